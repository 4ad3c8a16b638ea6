"""Pages of HTML: each is one file that needs no network and no script, and shows hostile text as text.

Whatever a template puts in goes through ``printable`` and is then escaped; jinja2 is imported only where a page is
really made.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unacked import __version__
from unacked.canonical import JSON
from unacked.graph.draw import SVG_STYLE
from unacked.report.matrix import matrix
from unacked.report.stored_run import StoredRun
from unacked.report.story import LANES, Story
from unacked.report.text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_page", "run_page"]

_TEMPLATES = Path(__file__).with_name("templates")


def run_page(run: StoredRun, stories: Sequence[Story]) -> str:
    """Return the page of a run; every story is told in full, every other trial is one line."""
    shown = matrix(run.lines, worst_first=True)
    return render_page(
        "run.html",
        name=run.name,
        manifest=run.manifest,
        summary=run.summary,
        lines=run.lines,
        kinds=run.kinds,
        verdicts=run.verdicts,
        matrix=shown,
        passed=shown.passed,
        stories=stories,
        told={story.line["index"] for story in stories},
        pins=list(_flat(run.manifest["pins"], "")),
        lanes=LANES,
    )


def _flat(values: Mapping[str, JSON], above: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", "none" if value is None else str(value)


def render_page(template: str, **values: Any) -> str:
    """Return the page that a template makes of some values."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    import jinja2
    import markupsafe

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    environment.globals.update(
        style=markupsafe.Markup(f"{style}.graph{{{SVG_STYLE}}}"),  # noqa: S704 - from files of this package
        version=__version__,
        drawn=markupsafe.Markup,
    )
    return environment


def _finalize(value: object) -> object:
    """Escape what would act on a reader; what is HTML already was made of escaped parts."""
    return value if hasattr(value, "__html__") else printable(str(value))
