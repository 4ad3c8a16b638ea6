"""YAML 1.2 files that remember where every value stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from unacked import document
from unacked.document import Document, Location, parse_yaml, read_yaml, validate
from unacked.errors import Place, SpecificationError

LOADERS = [yaml.SafeLoader] + ([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__)
def parse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Document]:
    """Parse with the loader of PyYAML that is in Python, and with the one in C."""
    monkeypatch.setattr(document, "_Loader", type("_Loader", (document._Untyped, request.param), {}))
    return lambda text: parse_yaml(text, "f.yaml")


def problems(act: Callable[[], object]) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        act()
    return [f"{problem.place}: {problem.message} ({problem.hint})" for problem in caught.value.problems]


# What a plain scalar means


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("12:30", "12:30"),
        ("2027-01-31", "2027-01-31"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("=", "="),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("v1.2", "v1.2"),
        ("r42", "r42"),
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("007", 7),
        ("0o17", 15),
        ("0x1f", 31),
        ("0x1F", 31),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
    ],
)
def test_only_the_core_types_of_yaml_1_2_exist(parse: Callable[[str], Document], written: str, value: Any) -> None:
    read = parse(f"key: {written}").value["key"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("written", ["'5'", '"5"', "|-\n  5", ">-\n  5"])
def test_a_quoted_number_stays_text(parse: Callable[[str], Document], written: str) -> None:
    assert parse(f"key: {written}").value == {"key": "5"}


def test_a_key_is_always_text(parse: Callable[[str], Document]) -> None:
    assert parse("1: a\ntrue: b\nno: c\n'': d").value == {"1": "a", "true": "b", "no": "c", "": "d"}


@pytest.mark.parametrize("text", ["", "# only a comment", "---\n"])
def test_an_empty_file_is_nothing(parse: Callable[[str], Document], text: str) -> None:
    assert parse(text).value is None


def test_an_alias_is_the_value_that_it_names(parse: Callable[[str], Document]) -> None:
    assert parse("a: &x {b: 1}\nc: *x").value == {"a": {"b": 1}, "c": {"b": 1}}


# What is refused


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: duplicate key 'a' (first given at line 1; keep one of the two)"),
        ("a: {b: 1, b: 1}", "f.yaml:1:11: duplicate key 'b' (first given at line 1; keep one of the two)"),
        ("a:\n  <<: {b: 1}", "f.yaml:2:3: merge keys ('<<') are not part of YAML 1.2 (write the keys out)"),
        ("? [a]\n: 1", "f.yaml:1:3: a key must be a plain word ()"),
        ("? {a: 1}\n: 1", "f.yaml:1:3: a key must be a plain word ()"),
        ("!k a: 1", "f.yaml:1:1: a key must be a plain word ()"),
        ("a: &x [1, *x]", "f.yaml:1:4: an alias that contains itself ()"),
        ("a: &x {b: {c: *x}}", "f.yaml:1:4: an alias that contains itself ()"),
        ("a: !env HOME", "f.yaml:1:4: tag '!env' is not allowed (use plain values)"),
        ("a: !!str 5", "f.yaml:1:4: tag 'tag:yaml.org,2002:str' is not allowed (use plain values)"),
        ("a: !!set {b}", "f.yaml:1:4: tag 'tag:yaml.org,2002:set' is not allowed (use plain values)"),
        ("a: !list [b]", "f.yaml:1:4: tag '!list' is not allowed (use plain values)"),
        (
            "a: !!python/name:os.system x",
            "f.yaml:1:4: tag 'tag:yaml.org,2002:python/name:os.system' is not allowed (use plain values)",
        ),
        ("a: 1e999", "f.yaml:1:4: the number is too large (quote it if it is not meant as a number)"),
        ("a: -1e999", "f.yaml:1:4: the number is too large (quote it if it is not meant as a number)"),
        (f"a: {'9' * 5000}", "f.yaml:1:4: the number is too large (quote it if it is not meant as a number)"),
        (f"a: 0x{'f' * 4000}", "f.yaml:1:4: the number is too large (quote it if it is not meant as a number)"),
    ],
    ids=lambda text: text[:20],
)
def test_what_yaml_lets_pass_and_we_do_not(parse: Callable[[str], Document], text: str, problem: str) -> None:
    assert problems(lambda: parse(text)) == [problem]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3", "f.yaml:2:"),
        ("a: b: c", "f.yaml:1:5: "),
        ("\ta: 1", "f.yaml:1:1: "),
        ("a: *nobody", "f.yaml:1:4: "),
        ("a: 1\n---\nb: 2", "f.yaml:2:1: "),
        ("a: 1\nbc: d\x00e", "f.yaml:2:6: "),
        ("a: 'never closed", "f.yaml:1:"),
    ],
)
def test_what_is_not_yaml_is_told_in_one_line_with_its_place(
    parse: Callable[[str], Document], text: str, place: str
) -> None:
    (problem,) = problems(lambda: parse(text))
    assert problem.startswith(place)
    assert ": is not YAML: " in problem
    assert "\n" not in problem


def test_a_second_document_in_a_file_is_named_as_such(parse: Callable[[str], Document]) -> None:
    expected = "f.yaml:2:1: is not YAML: expected a single document in the stream, but found another document ()"
    assert problems(lambda: parse("a: 1\n---\nb: 2")) == [expected]


def test_all_problems_of_a_file_are_told_together(parse: Callable[[str], Document]) -> None:
    text = "a: 1\na: 2\nb: !x y\nc: {<<: {}, d: 1, d: 2}\n"
    assert problems(lambda: parse(text)) == [
        "f.yaml:2:1: duplicate key 'a' (first given at line 1; keep one of the two)",
        "f.yaml:3:4: tag '!x' is not allowed (use plain values)",
        "f.yaml:4:5: merge keys ('<<') are not part of YAML 1.2 (write the keys out)",
        "f.yaml:4:19: duplicate key 'd' (first given at line 4; keep one of the two)",
    ]


@pytest.mark.parametrize("depth", [990, 5000])
def test_a_file_that_is_nested_too_deeply_is_refused(parse: Callable[[str], Document], depth: int) -> None:
    (problem,) = problems(lambda: parse("[" * depth + "]" * depth))
    assert problem.startswith("f.yaml")
    assert "nest" in problem


def test_aliases_of_aliases_do_not_fill_the_memory(parse: Callable[[str], Document]) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (problem,) = problems(lambda: parse("\n".join(lines)))
    assert problem == "f.yaml: holds more than 100,000 values ()"


# Reading a file


def test_a_file_is_read_and_named_as_it_is_told_to_be(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: é\n", encoding="utf-8")
    read = read_yaml(path, name="cases/x.yaml")
    assert (read.value, read.place(("a",))) == ({"a": "é"}, Place("cases/x.yaml", 1, 4))


def test_a_file_is_named_by_its_path_where_nothing_else_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n")
    assert read_yaml(path).file == str(path)


def test_a_missing_file_is_a_problem_of_the_file(tmp_path: Path) -> None:
    expected = ["x.yaml: cannot be read: No such file or directory ()"]
    assert problems(lambda: read_yaml(tmp_path / "x.yaml", name="x.yaml")) == expected


def test_a_folder_in_place_of_a_file_is_a_problem_of_the_file(tmp_path: Path) -> None:
    assert problems(lambda: read_yaml(tmp_path, name="x.yaml")) == ["x.yaml: cannot be read: Is a directory ()"]


def test_a_file_that_is_not_utf_8_says_at_which_byte(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: caf\xe9\n")
    assert problems(lambda: read_yaml(path, name="x.yaml")) == ["x.yaml: is not UTF-8 (byte 6) ()"]


# Places

TEXT = """\
case: x
services:
  records: {seed: {}}
tools: [one,
        two]
"""


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ((), "f.yaml:1:1"),
        (("case",), "f.yaml:1:7"),
        (("services", "records"), "f.yaml:3:12"),
        (("services", "records", "seed"), "f.yaml:3:19"),
        (("tools", 1), "f.yaml:5:9"),
        (("tools", 7), "f.yaml:4:8"),
        (("services", "records", "seed", "not", "there"), "f.yaml:3:19"),
        (("nothing",), "f.yaml:1:1"),
    ],
)
def test_a_place_is_where_the_value_begins_or_what_encloses_it(location: Location, place: str) -> None:
    assert str(parse_yaml(TEXT, "f.yaml").place(location)) == place


@pytest.mark.parametrize(
    ("location", "place"),
    [(("services", "records"), "f.yaml:3:3"), (("tools", 0), "f.yaml:4:9"), (("tools",), "f.yaml:4:1")],
)
def test_a_key_has_a_place_of_its_own(location: Location, place: str) -> None:
    assert str(parse_yaml(TEXT, "f.yaml").key_place(location)) == place


def test_an_empty_file_has_a_place_without_a_line() -> None:
    assert str(parse_yaml("", "f.yaml").place(("a",))) == "f.yaml"


def test_a_file_that_was_laid_over_another_keeps_its_own_places() -> None:
    over = parse_yaml("b: {c: 1}", "f.yaml").with_value({"a": {"x": 1}, "b": {"c": 1, "d": 2}})
    places = [str(over.place(location)) for location in (("b", "c"), ("b", "d"), ("a", "x"))]
    assert (over.value["a"], places) == ({"x": 1}, ["f.yaml:1:8", "f.yaml:1:4", "f.yaml:1:1"])


def test_a_problem_can_point_at_a_value_or_at_its_key() -> None:
    read = parse_yaml(TEXT, "f.yaml")
    shown = [str(read.problem(("tools",), "wrong")), str(read.key_problem(("tools",), "wrong", "so"))]
    assert shown == ["f.yaml:4:8: wrong", "f.yaml:4:1: wrong\n    hint: so"]


# Checking against a model


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    size: int = Field(default=1, ge=1)
    kind: str = Field(default="", alias="class")


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    title: str = "x"
    part: Part | None = None
    parts: list[Part] = []
    named: dict[str, Part] = {}
    uses: list[str | dict[str, dict[str, str | None]]] = []


def check(text: str) -> Whole:
    return validate(Whole, parse_yaml(text, "f.yaml"))


def test_a_good_file_becomes_the_model() -> None:
    whole = check("part: {name: a, class: c}\nuses: [one, {two: {x: null}}]")
    assert whole.model_dump(by_alias=True, exclude_defaults=True) == {
        "part": {"name": "a", "class": "c"},
        "uses": ["one", {"two": {"x": None}}],
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("titel: x", "f.yaml:1:1: unknown key 'titel' (did you mean 'title'?)"),
        ("part:\n  name: a\n  clas: c", "f.yaml:3:3: unknown key 'clas' (did you mean 'class'?)"),
        ("part: {name: a, zzz: c}", "f.yaml:1:17: unknown key 'zzz' (known: class, name, size)"),
        ("parts:\n- {nam: a, name: b}", "f.yaml:2:4: unknown key 'nam' (did you mean 'name'?)"),
        ("named: {a: {name: b, siz: 3}}", "f.yaml:1:22: unknown key 'siz' (did you mean 'size'?)"),
        ("part: {}", "f.yaml:1:7: missing key 'name' ()"),
        ("named:\n  a:\n    size: 2", "f.yaml:3:5: missing key 'name' ()"),
        ("part: 5", "f.yaml:1:7: part: expected a mapping of keys, got 5 ()"),
        ("named: [a]", "f.yaml:1:8: named: expected a mapping of keys, got ['a'] ()"),
        ("- a", "f.yaml:1:1: the file: expected a mapping of keys, got ['a'] ()"),
        ("", "f.yaml: the file: expected a mapping of keys, got None ()"),
        ("title: 5", "f.yaml:1:8: title: Input should be a valid string, got 5 ()"),
        (
            "title: no\npart: {name: no, size: no}",
            "f.yaml:2:24: part.size: Input should be a valid integer, got 'no' ()",
        ),
        (
            "parts:\n- name: a\n  size: 0",
            "f.yaml:3:9: parts.0.size: Input should be greater than or equal to 1, got 0 ()",
        ),
        (
            f"part: {{name: a, size: {'x' * 70}}}",
            f"f.yaml:1:23: part.size: Input should be a valid integer, got '{'x' * 56}... ()",
        ),
    ],
    ids=lambda text: text[:20],
)
def test_what_does_not_fit_the_model_is_told_with_its_place(text: str, problem: str) -> None:
    assert problems(lambda: check(text)) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "uses: [a, 5]",
            "f.yaml:1:11: uses.1: Input should be a valid string, or: Input should be a valid dictionary, got 5 ()",
        ),
        ("uses:\n- two: 5", "f.yaml:2:8: uses.0.two: expected a mapping of keys, got 5 ()"),
        ("uses:\n- two: {x: 5}", "f.yaml:2:12: uses.0.two.x: Input should be a valid string, got 5 ()"),
    ],
)
def test_a_value_that_may_have_two_forms_has_one_problem_in_the_words_of_the_file(text: str, problem: str) -> None:
    assert problems(lambda: check(text)) == [problem]


def test_all_that_does_not_fit_is_told_together() -> None:
    assert problems(lambda: check("title: 1\nparts:\n- {size: 0, bad: 1}\nmore: 1")) == [
        "f.yaml:1:8: title: Input should be a valid string, got 1 ()",
        "f.yaml:3:3: missing key 'name' ()",
        "f.yaml:3:10: parts.0.size: Input should be greater than or equal to 1, got 0 ()",
        "f.yaml:3:13: unknown key 'bad' (known: class, name, size)",
        "f.yaml:4:1: unknown key 'more' (known: named, part, parts, title, uses)",
    ]


def test_a_problem_in_an_inherited_part_is_placed_at_what_the_file_itself_says() -> None:
    over = parse_yaml("title: a\npart: {size: 2}", "f.yaml").with_value({"title": "a", "part": {"size": 2, "nam": "b"}})
    assert problems(lambda: validate(Whole, over)) == [
        "f.yaml:2:7: missing key 'name' ()",
        "f.yaml:2:7: unknown key 'nam' (did you mean 'name'?)",
    ]
