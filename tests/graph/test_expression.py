from __future__ import annotations

from typing import Any

import pytest

from unacked.graph.expression import GuardError, Scope, Undefined, compile_guard, compile_path

SCOPE = Scope(
    args={"id": "R1", "none": None, "n": 3, "flag": True, "ids": ["a", "b"], "deep": {"x": 1}},
    operation="create_record",
    now=9.0,
    since=4.0,
    agent="a1",
    turn=2,
    result={"complete": False, "items": [{"id": "a"}, {"id": "b"}]},
    variables={"rid": "R1", "seen": ["a", "b", "c"]},
    counts={"tries": 2},
    bound=frozenset({"create"}),
    idempotent=frozenset(),
)


def value_of(text: str) -> Any:
    value = compile_guard([text]).conjuncts[0].evaluate(SCOPE)
    return value.reason if isinstance(value, Undefined) else value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("args.id == $rid", True),
        ("args.id != $rid", False),
        ("args.none == None", True),
        ("args.none != 'x'", True),
        ("args.flag == 1", False),
        ("args.n == 3.0", True),
        ("args.n == '3'", False),
        ("count.tries < 3", True),
        ("count.unused == 0", True),
        ("since >= 4", True),
        ("0 < count.tries < 2", False),
        ("agent == 'a1' and turn == 2 and now == 9", True),
        ("operation in ['create_record', 'create_issue']", True),
        ("'zz' not in args.ids", True),
        ("subset(args.ids, $seen)", True),
        ("subset($seen, args.ids)", False),
        ("len(args.ids) == 2", True),
        ("min(args.n, 2) == 2 and max(args.n, 2) == 3", True),
        ("args.deep.x == 1", True),
        ("args.n > -1", True),
        ("bound('create') and not idempotent('create')", True),
        ("'$rid' == '$rid'", True),
        ("args.ids == ['a', 'b']", True),
        ("args.ids == ['a']", False),
        ("args.deep == args.deep", True),
        ("args.id in 'R1, R2'", True),
        ("args.flag in [1]", False),
        ("min(args.ids) == 'a'", True),
    ],
)
def test_a_defined_expression_is_true_or_false(text: str, value: bool) -> None:  # noqa: FBT001
    assert value_of(text) is value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("args.absent == 1", "args.absent missing"),
        ("args.absent != 1", "args.absent missing"),
        ("not args.absent", "args.absent missing"),
        ("$token == 'K1'", "$token never bound"),
        ("args.deep.y == 1", "args.deep.y missing"),
        ("target == 'x'", "target missing"),
        ("request == 'x'", "request missing"),
        ("args.none < 3", "null or unlike types"),
        ("args.id < 3", "null or unlike types"),
        ("args.flag < 3", "null or unlike types"),
        ("len(args.none) == 0", "null or unlike types"),
        ("subset(args.none, $seen)", "null or unlike types"),
        ("args.none in args.ids", "null or unlike types"),
        ("not args.n", "not a truth value"),
        ("args.n and args.flag", "not a truth value"),
        ("1 in args.id", "null or unlike types"),
        ("1 not in args.n", "null or unlike types"),
        ("max(args.ids, 1) == 1", "null or unlike types"),
        ("[args.absent] == [1]", "args.absent missing"),
        ("$seen.x == 1", "$seen.x missing"),
    ],
)
def test_a_missing_field_or_unlike_types_is_undefined_with_the_reason(text: str, reason: str) -> None:
    assert value_of(text) == reason


@pytest.mark.parametrize("text", ["args.absent == 1 or args.n == 3", "args.n == 3 or args.absent == 1"])
def test_true_decides_a_disjunction_whatever_else_is_undefined(text: str) -> None:
    assert value_of(text) is True


@pytest.mark.parametrize("text", ["args.absent == 1 and args.n == 4", "args.n == 4 and args.absent == 1"])
def test_false_decides_a_conjunction_whatever_else_is_undefined(text: str) -> None:
    assert value_of(text) is False


@pytest.mark.parametrize(("text", "value"), [("args.none", False), ("args.absent", False), ("$token", False)])
def test_is_set_is_defined_for_null_and_missing_values(text: str, value: bool) -> None:  # noqa: FBT001
    assert value_of(f"is_set({text})") is value


def test_an_undefined_conjunct_does_not_hold() -> None:
    assert not compile_guard(["args.absent != 1"]).holds(SCOPE)


def test_an_empty_guard_holds() -> None:
    assert compile_guard([]).holds(SCOPE)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("args.n === 3", 10, "is not an expression"),
        ("args.n + 1 == 4", 1, "BinOp 'args.n + 1' is not part of the guard language"),
        ("args.n == 1 or (lambda: 1)()", 16, "unknown function 'lambda: 1'"),
        ("args.n == 1 and exec('x')", 17, "unknown function 'exec'"),
        ("_hidden == 1", 1, "unknown name '_hidden'"),
        ("1 == argz.n", 6, "unknown name 'argz'"),
        ("args.n is None", 1, "'is' is not part of the guard language"),
        ("[x for x in args.ids]", 1, "ListComp '[x for x in args.ids]' is not part of the guard language"),
        ("args.ids[0] == 'a'", 1, "Subscript 'args.ids[0]' is not part of the guard language"),
        ("args == 1", 1, "'args' needs a field"),
        ("len() == 1", 1, "len takes 1 argument, by position"),
        ("bound(args.id)", 7, "bound takes the quoted name of a role"),
        ("b'x' == 1", 1, "Constant \"b'x'\" is not part of the guard language"),
        ("", 1, "is not an expression"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(GuardError) as caught:
        compile_guard([text])
    assert str(caught.value).startswith(message)
    assert caught.value.column == column


def test_a_dunder_is_only_a_missing_field() -> None:
    assert value_of("args.__class__.x == 1") == "args.__class__.x missing"


def test_a_path_takes_a_field_of_every_item() -> None:
    assert compile_path("result.items[].id").get(SCOPE) == ["a", "b"]


@pytest.mark.parametrize("text", ["result.items[].name", "result.none[].id", "args.n[].id", "args.deep.z"])
def test_a_path_that_leads_nowhere_is_undefined(text: str) -> None:
    assert compile_path(text).get(SCOPE) == Undefined(f"{text} missing")


@pytest.mark.parametrize("text", ["args", "argz.x", "args.x y", "payload.x", "args.__import__('os')"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(GuardError):
        compile_path(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("count.tries < '3'", "compares a number with a text"),
        ("count.tries == '3'", "compares a number with a text"),
        ("len(args.items) >= '1'", "compares a number with a text"),
        ("agent > 3", "compares a text with a number"),
        ("now < None", "null has no order"),
        ("is_set(args.x) > 0", "a truth value has no order"),
        ("args.x and 1 == 'a'", "compares a number with a text"),
    ],
)
def test_a_comparison_of_unlike_kinds_is_refused(text: str, reason: str) -> None:
    with pytest.raises(GuardError, match=reason):
        compile_guard([text])


@pytest.mark.parametrize("text", ["count.tries < 3", "turn == None", "args.x == '3'", "agent in ['a']", "-1 < now"])
def test_a_comparison_that_may_hold_is_compiled(text: str) -> None:
    assert compile_guard([text]).conjuncts[0].text == text
