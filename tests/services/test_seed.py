from __future__ import annotations

from typing import Any

import pytest

from unacked.services import Field, SeedError, check_seed, seed_rows

FIELDS = {"jar_id": Field(), "lids": Field((list,), required=False)}


def test_rows_are_keyed_by_identity_and_absent_optional_fields_are_null() -> None:
    rows = seed_rows({"jars": [{"jar_id": "a", "lids": [1]}, {"jar_id": "b"}]}, "jars", "jar_id", FIELDS)

    assert rows == {"a": {"jar_id": "a", "lids": [1]}, "b": {"jar_id": "b", "lids": None}}


def test_an_absent_list_is_empty() -> None:
    assert seed_rows({}, "jars", "jar_id", FIELDS) == {}


@pytest.mark.parametrize(
    ("jars", "location", "message"),
    [
        ({}, ("jars",), "seed.jars: expected a list, got {}"),
        (["a"], ("jars", 0), "seed.jars[0]: expected an object, got 'a'"),
        ([{}], ("jars", 0, "jar_id"), "seed.jars[0].jar_id: is missing; expected a non-empty string"),
        ([{"jar_id": 7}], ("jars", 0, "jar_id"), "seed.jars[0].jar_id: expected a non-empty string, got 7"),
        ([{"jar_id": "a", "lid": []}], ("jars", 0, "lid"), "seed.jars[0].lid: unknown key; did you mean 'lids'?"),
        ([{"jar_id": "a"}, {"jar_id": "a"}], ("jars", 1, "jar_id"), "seed.jars[1].jar_id: 'a' is there twice"),
    ],
)
def test_a_bad_seed_is_refused_with_its_key(jars: Any, location: tuple[str | int, ...], message: str) -> None:
    with pytest.raises(SeedError) as caught:
        seed_rows({"jars": jars}, "jars", "jar_id", FIELDS)

    assert caught.value.location == location
    assert str(caught.value) == message


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(SeedError, match=r"seed\.jar: unknown key; did you mean 'jars'\?"):
        check_seed({"jar": []}, ["jars"])
