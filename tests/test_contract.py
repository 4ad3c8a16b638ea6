"""Operation contracts: what a tool takes, gives back and does to the world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unacked.canonical import JSON
from unacked.contract import Argument, Broadcast, Effect, Idempotency, Operation, Registry

CREATE = Operation(
    name="create_jar",
    effect=Effect.CREATE,
    description="Make a jar.",
    arguments=(
        Argument("label", description="What stands on it."),
        Argument("size", "integer", required=False),
        Argument("kind", choices=("glass", "clay")),
        Argument("key", required=False),
        Argument("request_id"),
    ),
    result=(Argument("jar_id"), Argument("state", choices=("open", "shut"))),
    categories=frozenset({"ok", "outcome_unknown"}),
    tags=frozenset({"expensive"}),
    target_class="jar",
    identity="jar_id",
    request="request_id",
    idempotency="key",
    idempotency_mode=Idempotency.REPLAY_SUCCESS,
    reconcile="find_jar",
)
FIND = Operation(name="find_jar", effect=Effect.READ, description="Find a jar.", categories=frozenset({"ok"}))
SMASH = Operation(
    name="smash_jar",
    effect=Effect.DELETE,
    description="Smash a jar.",
    categories=frozenset({"ok"}),
    tags=frozenset({"destructive"}),
    target="jar_id",
)
WAIT = Operation(
    name="wait", effect=Effect.CONTROL, description="Wait.", categories=frozenset({"ok"}), broadcast=Broadcast.ANY
)
REGISTRY = Registry([CREATE, FIND, SMASH, WAIT])


@pytest.mark.parametrize(
    ("effect", "writes"),
    [
        ("read", False),
        ("create", True),
        ("update", True),
        ("delete", True),
        ("trigger", True),
        ("exec", True),
        ("spend", True),
        ("grant", True),
        ("rotate", True),
        ("control", False),
    ],
)
def test_all_but_reads_and_controls_write(effect: str, writes: bool) -> None:  # noqa: FBT001 - a row of the table
    assert replace(FIND, effect=Effect(effect)).writes is writes


def test_every_effect_is_in_the_table_above() -> None:
    assert len(Effect) == 10


@pytest.mark.parametrize(
    ("mode", "honoured"),
    [
        ("replay_success", True),
        ("replay_error", True),
        ("reexecute", True),
        ("conflict_in_flight", True),
        ("mismatch_error", True),
        ("expires", True),
        ("ignored", False),
        ("none", False),
    ],
)
def test_a_key_may_be_sent_again_where_the_mode_honours_it(mode: str, honoured: bool) -> None:  # noqa: FBT001 - a row of the table
    assert Idempotency(mode).honoured is honoured


def test_the_payload_is_what_is_asked_for_without_the_ids() -> None:
    arguments: dict[str, JSON] = {"label": "plum", "kind": "clay", "key": "K1", "request_id": "R1"}
    assert CREATE.payload(arguments) == {"label": "plum", "size": None, "kind": "clay"}


def test_leaving_an_optional_argument_out_and_sending_null_ask_for_the_same() -> None:
    assert CREATE.payload({"label": "plum"}) == CREATE.payload({"label": "plum", "size": None, "key": "K2"})


def test_an_argument_that_the_contract_does_not_know_is_part_of_the_payload() -> None:
    assert CREATE.payload({"lid": "red"}) == {"label": None, "size": None, "kind": None, "lid": "red"}


def test_the_input_schema_is_closed_and_lists_what_is_required() -> None:
    assert CREATE.input_schema() == {
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "What stands on it."},
            "size": {"type": "integer"},
            "kind": {"type": "string", "enum": ["glass", "clay"]},
            "key": {"type": "string"},
            "request_id": {"type": "string"},
        },
        "required": ["label", "kind", "request_id"],
        "additionalProperties": False,
    }


def test_the_contract_as_json_holds_everything_that_decides() -> None:
    assert CREATE.as_json() == {
        "name": "create_jar",
        "effect": "create",
        "description": "Make a jar.",
        "input_schema": CREATE.input_schema(),
        "result": [["jar_id", "string", True, []], ["state", "string", True, ["open", "shut"]]],
        "categories": ["ok", "outcome_unknown"],
        "tags": ["expensive"],
        "target": None,
        "target_class": "jar",
        "identity": "jar_id",
        "request": "request_id",
        "idempotency": ["key", "replay_success"],
        "reconcile": "find_jar",
        "broadcast": None,
    }


def test_a_registry_is_a_mapping_from_names_to_contracts() -> None:
    assert (list(REGISTRY), len(REGISTRY)) == (["create_jar", "find_jar", "smash_jar", "wait"], 4)
    assert REGISTRY["find_jar"] is FIND


def test_a_name_that_is_declared_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^operation 'find_jar' is declared twice$"):
        Registry([FIND, CREATE, FIND])


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("@destructive", {"smash_jar"}),
        ("@expensive", {"create_jar"}),
        ("@delete", {"smash_jar"}),
        ("@read", {"find_jar"}),
        ("@control", {"wait"}),
        ("@mutating", {"create_jar", "smash_jar"}),
        ("@spend", set()),
        ("@unheard_of", set()),
    ],
)
def test_a_selector_names_operations_by_tag_by_effect_or_by_being_writes(selector: str, names: set[str]) -> None:
    assert REGISTRY.select(selector) == names


@pytest.mark.parametrize(
    "changed",
    [
        replace(CREATE, description="Make one jar."),
        replace(CREATE, result=(Argument("jar_id"), Argument("state"))),
        replace(CREATE, target_class="vessel"),
        replace(CREATE, idempotency_mode=Idempotency.IGNORED),
    ],
    ids=["description", "choices of a result field", "target class", "idempotency"],
)
def test_what_is_pinned_changes_with_every_part_of_a_contract(changed: Operation) -> None:
    assert changed.as_json() != CREATE.as_json()
