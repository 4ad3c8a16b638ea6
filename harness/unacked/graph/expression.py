"""The guard language: a small checked subset of Python expressions with three truth values.

A guard is a list of conjuncts. Each is parsed once with ``ast``, checked against a list of allowed nodes and
turned into closures. A conjunct is true, false or undefined; undefined names the field that was missing, and
a guard holds only where every conjunct is true. ``==`` and ``!=`` compare null like a value; every other
operator or function on null or on unlike types is undefined.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unacked.canonical import JSON, freeze
from unacked.errors import nearest
from unacked.graph.kinds import unlike

__all__ = [
    "ALWAYS",
    "Conjunct",
    "Guard",
    "GuardError",
    "Path",
    "Scope",
    "Undefined",
    "compile_guard",
    "compile_path",
    "syntax_tree",
]


class GuardError(ValueError):
    """An expression that the guard language does not have; ``column`` is 1-based within its text."""

    def __init__(self, message: str, column: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.column = column
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Undefined:
    """The third truth value; ``reason`` says which field is missing or which types do not fit."""

    reason: str


@dataclass(slots=True)
class Scope:
    """What a guard sees: one call, perhaps its result, and what its thread remembers. Times are seconds."""

    args: Mapping[str, JSON]
    operation: str = ""
    payload: Callable[[], str] = str
    target: JSON = Undefined("target missing")
    now: float = 0.0
    since: float = 0.0
    agent: str = ""
    turn: int | None = None
    result: Mapping[str, JSON] = field(default_factory=dict)
    variables: Mapping[str, JSON] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    idempotent: frozenset[str] = frozenset()
    request: JSON = Undefined("request missing")


Evaluate = Callable[[Scope], Any]


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled way to a value, such as ``args.request_id`` or ``result.items[].id``."""

    text: str
    get: Evaluate = field(repr=False)

    @property
    def root(self) -> str:
        """The first word: ``args``, ``result``, ``$name``, ``payload`` ..."""
        return self.text.split(".", 1)[0]

    @property
    def head(self) -> str:
        """The first word after the root, without ``[]``; empty where there is none."""
        _, _, rest = self.text.partition(".")
        return rest.split(".", 1)[0].removesuffix("[]")


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One line of a guard: its text, its compiled form and every name it reads."""

    text: str
    evaluate: Evaluate = field(repr=False)
    reads: tuple[Path, ...] = ()
    roles: tuple[tuple[str, int], ...] = ()
    """Roles named by ``bound`` and ``idempotent``, with their 1-based column."""

    @property
    def settled_early(self) -> bool:
        """True where nothing of a future call or result can change the value."""
        return all(path.root == "count" or path.root.startswith("$") for path in self.reads)


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction; an empty one always holds."""

    conjuncts: tuple[Conjunct, ...] = ()

    def holds(self, scope: Scope) -> bool:
        """Return whether every conjunct is true; undefined is not true."""
        for conjunct in self.conjuncts:  # noqa: SIM110 - a generator costs more than the guard itself
            if conjunct.evaluate(scope) is not True:
                return False
        return True

    def __str__(self) -> str:
        return " and ".join(conjunct.text for conjunct in self.conjuncts)


ALWAYS = Guard()


def compile_guard(texts: Iterable[str]) -> Guard:
    """Compile the conjuncts of a guard; raises GuardError at the first that is not in the language."""
    return Guard(tuple(_compile_conjunct(text) for text in texts))


def compile_path(text: str) -> Path:
    """Compile the path of a binding, key or handle; ``name[]`` means every item. Raises GuardError."""
    root, *parts = text.split(".")
    if root in _FIELDS and parts:
        start = _FIELDS[root]
    elif root in _WORDS and not parts:
        return Path(text, _WORDS[root])
    elif re.fullmatch(r"\$[A-Za-z]\w*", root) and not parts:
        return Path(text, _read(root, parts, text, 1))
    else:
        known = [*_WORDS, "$<variable>", *(f"{name}.<field>" for name in ("args", "result"))]
        raise GuardError(f"{text!r} is not the path of a value", 1, f"known: {', '.join(known)}")
    for part in parts:
        if not re.fullmatch(r"[A-Za-z_]\w*(\[\])?", part):
            raise GuardError(f"{text!r}: {part!r} is not a field name", text.index(part) + 1)
    if len(parts) == 1 and not parts[0].endswith("[]"):
        return Path(text, _field(start, parts[0], text))
    missing = Undefined(f"{text} missing")
    return Path(text, lambda scope: _walk(start(scope), parts, missing))


def _walk(value: JSON, parts: Sequence[str], missing: Undefined) -> Any:
    for index, part in enumerate(parts):
        name = part.removesuffix("[]")
        if not isinstance(value, Mapping) or name not in value:
            return missing
        value = value[name]
        if name != part:
            if not isinstance(value, list):
                return missing
            items = [_walk(item, parts[index + 1 :], missing) for item in value]
            return missing if missing in items else items
    return value


def _field(mapping: Evaluate, name: str, text: str) -> Evaluate:
    missing = Undefined(f"{text} missing")
    return lambda scope: mapping(scope).get(name, missing)


_FIELDS: Mapping[str, Evaluate] = {
    "args": lambda scope: scope.args,
    "result": lambda scope: scope.result,
    "count": lambda scope: scope.counts,
}
_WORDS: Mapping[str, Evaluate] = {
    "now": lambda scope: scope.now,
    "since": lambda scope: scope.since,
    "agent": lambda scope: scope.agent,
    "turn": lambda scope: scope.turn,
    "payload": lambda scope: scope.payload(),
    "target": lambda scope: scope.target,
    "request": lambda scope: scope.request,
    "operation": lambda scope: scope.operation,
}

# ``$name`` becomes ``_name`` for the parser: the same width, so columns stay true. A leading underscore is
# refused beforehand, and quoted text is left alone.
_SPELLING = re.compile(r"'[^']*'|\"[^\"]*\"|\$(?=[A-Za-z])|(?<![\w.$])_\w*")


def syntax_tree(text: str) -> ast.expr:
    """Return the syntax of a conjunct, unchecked; ``$name`` is the name ``_name`` in it. Raises GuardError."""

    def respell(match: re.Match[str]) -> str:
        word = match.group()
        if word.startswith("_"):
            raise GuardError(f"unknown name {word!r}", match.start() + 1, "a bound variable is written $name")
        return "_" if word == "$" else word

    source = _SPELLING.sub(respell, text)
    try:
        return ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise GuardError(f"is not an expression: {error.msg}", error.offset or 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise GuardError(f"is not an expression: {error}") from None


def _compile_conjunct(text: str) -> Conjunct:
    compiler = _Compiler()
    evaluate = compiler.node(syntax_tree(text))
    return Conjunct(text, evaluate, tuple(compiler.reads.values()), tuple(compiler.roles))


class _Compiler:
    """Turns checked nodes into closures, and notes the names that are read."""

    def __init__(self) -> None:
        self.reads: dict[str, Path] = {}
        self.roles: list[tuple[str, int]] = []

    def node(self, node: ast.expr) -> Evaluate:
        match node:
            case ast.BoolOp():
                parts = [self.node(value) for value in node.values]
                return _all_of(parts) if isinstance(node.op, ast.And) else _any_of(parts)
            case ast.UnaryOp(op=ast.Not()):
                return _not(self.node(node.operand))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                negative = -number
                return lambda _: negative
            case ast.Compare():
                return self._compare(node)
            case ast.Call():
                return self._call(node)
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.Constant(value=str() | int() | float() | None as value):
                return lambda _: value
            case ast.List() | ast.Tuple():
                items = [self.node(item) for item in node.elts]
                return lambda scope: _list(item(scope) for item in items)
        raise GuardError(
            f"{_describe(node)} is not part of the guard language",
            node.col_offset + 1,
            "use and, or, not, comparisons, in and the named functions",
        )

    def _compare(self, node: ast.Compare) -> Evaluate:
        written = (node.left, *node.comparators)
        operands = [self.node(operand) for operand in written]
        for operator, first, second in zip(node.ops, written, written[1:], strict=False):
            if (reason := unlike(first, operator, second)) is not None:
                raise GuardError(reason, node.col_offset + 1, "such a comparison never holds")
        pairs = []
        for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if type(operator) not in _COMPARISONS:
                raise GuardError("'is' is not part of the guard language", node.col_offset + 1, "use == or !=")
            pairs.append(_comparison(_COMPARISONS[type(operator)], left, right))
        return pairs[0] if len(pairs) == 1 else _all_of(pairs)

    def _call(self, node: ast.Call) -> Evaluate:
        column = node.col_offset + 1
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in _ARITY:
            raise GuardError(f"unknown function {name!r}", column, nearest(name, _ARITY))
        low, high = _ARITY[name]
        if node.keywords or not low <= len(node.args) <= high:
            raise GuardError(f"{name} takes {low} argument{'s' * (low > 1)}, by position", column)
        if name in ("bound", "idempotent"):
            return self._role(name, node.args[0])
        arguments = [self.node(argument) for argument in node.args]
        if name == "is_set":
            value_of = arguments[0]
            return lambda scope: _is_set(value_of(scope))
        return _application(_FUNCTIONS[name], arguments)

    def _role(self, function: str, node: ast.expr) -> Evaluate:
        match node:
            case ast.Constant(value=str() as role):
                self.roles.append((role, node.col_offset + 1))
            case _:
                raise GuardError(f"{function} takes the quoted name of a role", node.col_offset + 1)
        if function == "bound":
            return lambda scope: role in scope.bound
        return lambda scope: role in scope.idempotent

    def _name(self, node: ast.expr) -> Evaluate:
        parts: list[str] = []
        column = node.col_offset + 1
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            raise GuardError("a field can be taken only from a name", column)
        root = f"${node.id[1:]}" if node.id.startswith("_") else node.id
        text = ".".join((root, *parts))
        if text not in self.reads:
            self.reads[text] = Path(text, _read(root, parts, text, column))
        return self.reads[text].get


def _read(root: str, parts: list[str], text: str, column: int) -> Evaluate:
    if root.startswith("$"):
        name, unbound = root[1:], Undefined(f"{root} never bound")
        missing = Undefined(f"{text} missing")
        if not parts:
            return lambda scope: scope.variables.get(name, unbound)
        return lambda scope: _walk(scope.variables.get(name, unbound), parts, missing)
    if root == "count" and len(parts) == 1:
        counter = parts[0]
        return lambda scope: scope.counts.get(counter, 0)
    if root in ("args", "result", "count") and not parts:
        raise GuardError(f"{root!r} needs a field", column, f"write {root}.<name>")
    if root not in _FIELDS and root not in _WORDS:
        raise GuardError(f"unknown name {root!r}", column, nearest(root, [*_FIELDS, *_WORDS]))
    try:
        return compile_path(text).get
    except GuardError as error:
        raise GuardError(str(error), column, error.hint) from None


def _describe(node: ast.AST) -> str:
    return f"{type(node).__name__} {ast.unparse(node)!r}" if isinstance(node, ast.expr) else type(node).__name__


_UNLIKE = Undefined("null or unlike types")
_NO_TRUTH = Undefined("not a truth value")


def _all_of(parts: Sequence[Evaluate]) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        answer: Any = True
        for part in parts:
            value = part(scope)
            if value is False:
                return False
            if value is not True and answer is True:
                answer = value if isinstance(value, Undefined) else _NO_TRUTH
        return answer

    return evaluate


def _any_of(parts: Sequence[Evaluate]) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        answer: Any = False
        for part in parts:
            value = part(scope)
            if value is True:
                return True
            if value is not False and answer is False:
                answer = value if isinstance(value, Undefined) else _NO_TRUTH
        return answer

    return evaluate


def _not(part: Evaluate) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        value = part(scope)
        if value is True or value is False:
            return not value
        return value if isinstance(value, Undefined) else _NO_TRUTH

    return evaluate


def _comparison(compare: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        first = left(scope)
        if type(first) is Undefined:
            return first
        second = right(scope)
        return second if type(second) is Undefined else compare(first, second)

    return evaluate


def _application(function: Callable[..., Any], arguments: Sequence[Evaluate]) -> Evaluate:
    def evaluate(scope: Scope) -> Any:
        values = [argument(scope) for argument in arguments]
        for value in values:
            if type(value) is Undefined:
                return value
        return function(*values)

    return evaluate


def _list(values: Iterable[Any]) -> Any:
    items = list(values)
    return next((item for item in items if isinstance(item, Undefined)), items)


def _equal(first: Any, second: Any) -> bool:
    """JSON equality: 1 equals 1.0, but true is not 1."""
    if type(first) is str and type(second) is str:
        return first == second
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_equal(first[key], second[key]) for key in first)
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _order(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def ordered(first: Any, second: Any) -> Any:
        if type(first) is int and type(second) is int:
            return compare(first, second)
        if (_number(first) and _number(second)) or (isinstance(first, str) and isinstance(second, str)):
            return compare(first, second)
        return _UNLIKE

    return ordered


def _contains(item: Any, container: Any) -> Any:
    if item is None:
        return _UNLIKE
    if isinstance(container, (list, tuple)):
        return any(_equal(item, member) for member in container)
    if isinstance(container, str) and isinstance(item, str):
        return item in container
    return _UNLIKE


def _lacks(item: Any, container: Any) -> Any:
    found = _contains(item, container)
    return found if found is _UNLIKE else not found


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: _equal,
    ast.NotEq: lambda first, second: not _equal(first, second),
    ast.Lt: _order(lambda first, second: first < second),
    ast.LtE: _order(lambda first, second: first <= second),
    ast.Gt: _order(lambda first, second: first > second),
    ast.GtE: _order(lambda first, second: first >= second),
    ast.In: _contains,
    ast.NotIn: _lacks,
}


def _is_set(value: Any) -> bool:
    return value is not None and not isinstance(value, Undefined) and not (isinstance(value, str) and not value)


def _subset(part: Any, whole: Any) -> Any:
    if not isinstance(part, list) or not isinstance(whole, list):
        return _UNLIKE
    return set(map(_mark, part)) <= set(map(_mark, whole))


def _mark(value: Any) -> tuple[bool, Any]:
    """Hashable, and true is not 1."""
    return isinstance(value, bool), freeze(value)


def _length(value: Any) -> Any:
    return len(value) if isinstance(value, (str, list, Mapping)) else _UNLIKE


def _extreme(choose: Callable[[Sequence[Any]], Any]) -> Callable[..., Any]:
    def extreme(*values: Any) -> Any:
        items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        if items and (all(map(_number, items)) or all(isinstance(item, str) for item in items)):
            return choose(items)
        return _UNLIKE

    return extreme


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "subset": _subset,
    "len": _length,
    "min": _extreme(min),
    "max": _extreme(max),
}
_MANY = 99
_ARITY: Mapping[str, tuple[int, int]] = {
    "is_set": (1, 1),
    "subset": (2, 2),
    "len": (1, 1),
    "min": (1, _MANY),
    "max": (1, _MANY),
    "bound": (1, 1),
    "idempotent": (1, 1),
}
