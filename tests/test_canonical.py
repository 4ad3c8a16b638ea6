"""One spelling for every JSON value, and no tolerance when reading."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unacked.canonical import InvalidJSON, digest, dumps, freeze, loads

SURROGATE = "\ud800"
TEXT = st.text(st.characters(codec=None))  # lone surrogates too: JSON can escape them
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [1.5, None, True], "A": {}}, '{"A":{},"a":[1.5,null,true],"b":1}'),
        ({"name": "é\n"}, '{"name":"\\u00e9\\n"}'),
        ({"half": SURROGATE}, '{"half":"\\ud800"}'),
        ([], "[]"),
        ("", '""'),
    ],
)
def test_the_canonical_text_is_sorted_compact_ascii(value: Any, text: str) -> None:
    assert dumps(value) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        dumps({"amount": number})


def test_a_value_that_is_not_json_is_not_written() -> None:
    with pytest.raises(TypeError, match="set is not JSON"):
        dumps({"tags": {"a"}})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":1,"a":2}', "duplicate key in an object"),
        ('[{"b":{"a":1,"a":1}}]', "duplicate key in an object"),
        ('{"a":NaN}', "NaN is not a JSON number"),
        ("[Infinity]", "Infinity is not a JSON number"),
        ("-Infinity", "-Infinity is not a JSON number"),
        ("[1e999]", "a number is too large"),
        ("-1e999", "a number is too large"),
        ("1" * 4301, "a number is too large"),
        ('{"a":1}x', "Extra data at line 1 column 8"),
        ('{"a":1}\n{"a":2}', "Extra data at line 2 column 1"),
        ("", "Expecting value at line 1 column 1"),
        ('{"a":', "Expecting value at line 1 column 6"),
        ("{'a':1}", "Expecting property name enclosed in double quotes at line 1 column 2"),
        ("\ufeff{}", "Expecting value at line 1 column 1"),
        (b"\xef\xbb\xbf{}", "Expecting value at line 1 column 1"),
        (b'{"a":"\xff"}', "invalid UTF-8 at byte 6"),
        (b'"\xed\xa0\x80"', "invalid UTF-8 at byte 1"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
    ],
    ids=range(19),
)
def test_what_is_not_strict_json_is_refused_with_the_reason(text: str | bytes, reason: str) -> None:
    for spelling in {text, text.encode() if isinstance(text, str) else text}:
        with pytest.raises(InvalidJSON, match=f"^{re.escape(reason)}$"):
            loads(spelling)


def test_a_refusal_does_not_quote_the_text() -> None:
    with pytest.raises(InvalidJSON) as caught:
        loads('{"tok_secret":1,"tok_secret":2}')
    assert "secret" not in str(caught.value)


def test_the_longest_integer_that_python_writes_is_read_back() -> None:
    assert loads("9" * 4300) == int("9" * 4300)


@given(VALUES)
def test_every_json_value_survives_being_written_and_read(value: Any) -> None:
    assert loads(dumps(value)) == value


@given(VALUES)
def test_bytes_are_read_like_the_text_that_they_spell(value: Any) -> None:
    for text in (dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        with suppress(UnicodeEncodeError):  # a lone surrogate that is not escaped is no text
            assert repr(loads(text.encode())) == repr(loads(text.encode() + b"\n")) == repr(loads(text))


@pytest.mark.parametrize(
    "text", ["-0", "-0.0", "1e16", "1E-5", "18446744073709551616", "0.1e1", '"\\u0041"', '{"b":1,"a":2}']
)
def test_numbers_and_texts_in_another_spelling_are_read_alike(text: str) -> None:
    assert repr(loads(text.encode())) == repr(json.loads(text))


@given(VALUES)
def test_the_canonical_text_of_what_was_read_is_the_text_that_was_read(value: Any) -> None:
    text = dumps(value)
    assert dumps(loads(text)) == text


@given(st.dictionaries(TEXT, SCALARS))
def test_the_order_in_which_members_were_set_does_not_show(value: dict[str, Any]) -> None:
    assert dumps(dict(reversed(value.items()))) == dumps(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            {"service": "billing", "revision": "r42"},
            "c231ff1e31af2600acb4ad56a8db7e0bd435e33c37df72aa4263793e7ec2e610",
        ),
        ("é", "abc3932c9ec58f042750738c49034e7ee67cf556d6be86832ac3dda38decb703"),
    ],
)
def test_a_digest_is_the_same_on_every_machine(value: Any, expected: str) -> None:
    assert digest(value) == expected


def test_an_object_and_a_list_of_its_members_freeze_differently() -> None:
    assert freeze({"a": 1}) != freeze([["a", 1]])


def test_the_order_of_members_does_not_matter_to_a_frozen_value_and_the_order_of_items_does() -> None:
    assert freeze({"a": [1, 2], "b": {}}) == freeze({"b": {}, "a": [1, 2]})
    assert freeze([1, 2]) != freeze([2, 1])


@given(VALUES)
def test_equal_values_freeze_to_equal_hashable_stand_ins(value: Any) -> None:
    assert {freeze(value): "found"}[freeze(loads(dumps(value)))] == "found"
