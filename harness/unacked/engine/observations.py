"""What the trials of a stored run showed of their graphs; apart, for neither running nor judging needs it."""

from __future__ import annotations

from collections.abc import Iterator

from unacked.engine.folder import RunFolder
from unacked.engine.paths import stored_paths
from unacked.graph.coverage import Observation
from unacked.suite import load_suite

__all__ = ["observations"]


def observations(folder: RunFolder) -> Iterator[Observation]:
    """Yield what every trial of a run showed of its graphs, judged by the suite that the run holds."""
    for path in stored_paths(folder, load_suite(folder.suite, run_code=False)):
        yield Observation(
            case=path.brief.case.case,
            fixture=path.brief.name,
            agent=path.agent,
            graphs=path.brief.graphs,
            tools=path.brief.tools.keys(),
            events=path.moves,
            judgement=path.judgement,
        )
