from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unacked.compare import Divergence, Step, first_divergence, steps_of
from unacked.event import Event, History

CREATE = Step("create_record", '{"title":"a"}', "outcome_unknown")
RETITLED = Step("create_record", '{"title":"b"}', "outcome_unknown")
LOOKUP = Step("lookup", "{}", "ok")
NOTE = Step("attach_note", "{}", "ok")


def test_transcripts_part_at_the_first_other_call() -> None:
    assert first_divergence([CREATE, LOOKUP, NOTE], [CREATE, CREATE]) == Divergence(2, [CREATE], LOOKUP, CREATE)


def test_a_transcript_that_ends_earlier_parts_at_its_end() -> None:
    assert first_divergence([CREATE], [CREATE, LOOKUP]) == Divergence(2, [CREATE], None, LOOKUP)


def test_another_call_matters_more_than_an_earlier_other_word() -> None:
    assert first_divergence([CREATE, LOOKUP], [RETITLED, NOTE]) == Divergence(2, [CREATE], LOOKUP, NOTE)


def test_where_only_words_differ_they_are_the_divergence() -> None:
    assert first_divergence([CREATE, LOOKUP], [RETITLED, LOOKUP]) == Divergence(1, [], CREATE, RETITLED)


@given(st.lists(st.sampled_from([CREATE, RETITLED, LOOKUP, NOTE])))
def test_a_transcript_does_not_part_from_itself(steps: list[Step]) -> None:
    assert first_divergence(steps, list(steps)) is None


def test_steps_are_calls_with_the_category_of_their_results() -> None:
    history = History(
        [
            Event(0.0, "agent_next_call", "c1", "create_record", detail={"arguments": {"title": "a"}}),
            Event(5.0, "result", "c1", "create_record", category="outcome_unknown"),
            Event(5.0, "agent_next_call", "c2", "lookup", detail={"arguments": {}}),
        ]
    )
    assert steps_of(history) == [CREATE, Step("lookup", "{}", None)]
    assert str(CREATE) == 'create_record({"title":"a"}) -> outcome_unknown'
