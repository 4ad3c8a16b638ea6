from __future__ import annotations

import pytest

from unacked.report.text import arguments_text, printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, Grüße, 日本", "plain text, Grüße, 日本"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("two\nlines\r", "two\\x0alines\\x0d"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2028\ufeff", "\\u2028\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("[red]not markup[/red]", "[red]not markup[/red]"),
    ],
)
def test_what_a_terminal_would_act_on_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_short_text_is_left_whole() -> None:
    assert shortened("12345", 5) == "12345"


def test_a_long_text_is_cut_to_its_width() -> None:
    assert shortened("123456", 5) == "1234…"


def test_arguments_are_shown_as_names_and_values() -> None:
    assert arguments_text({"title": "a", "nth": 1, "none": None}) == 'title="a", nth=1, none=null'


def test_hostile_arguments_are_escaped_and_cut() -> None:
    assert arguments_text({"\x1b": "\x07" * 100}, width=12) == '\\x1b="\\u0007\\u00…'
