"""What kind of value a guard's operand is for sure, as far as its text says; unlike kinds never compare."""

from __future__ import annotations

import ast
from collections.abc import Mapping

__all__ = ["unlike"]

_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_EQUAL = (ast.Eq, ast.NotEq)
_WORDS: Mapping[str, str] = {
    "now": "a number",
    "since": "a number",
    "turn": "a number",
    "agent": "a text",
    "payload": "a text",
    "operation": "a text",
}
_CALLS: Mapping[str, str] = {"len": "a number"} | dict.fromkeys(
    ("is_set", "subset", "bound", "idempotent"), "a truth value"
)
_UNORDERED = frozenset({"a list", "null", "a truth value"})


def unlike(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str | None:
    """Say why a comparison can never be decided; None where it may be. Null is compared by == and != only."""
    first, second = _kind(left), _kind(right)
    if isinstance(operator, _ORDERED):
        unordered = next((kind for kind in (first, second) if kind in _UNORDERED), None)
        if unordered is not None:
            return f"{unordered} has no order"
    elif not isinstance(operator, _EQUAL) or "null" in (first, second):
        return None
    if first is None or second is None or first == second:
        return None
    return f"compares {first} with {second}"


def _kind(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=None):
            return "null"
        case ast.Constant(value=str()):
            return "a text"
        case ast.Constant(value=int() | float()) | ast.UnaryOp(op=ast.USub()):
            return "a number"
        case ast.List() | ast.Tuple():
            return "a list"
        case ast.Attribute(value=ast.Name(id="count")):
            return "a number"
        case ast.Name(id=name):
            return _WORDS.get(name)
        case ast.Call(func=ast.Name(id=name)):
            return _CALLS.get(name)
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "a truth value"
    return None
