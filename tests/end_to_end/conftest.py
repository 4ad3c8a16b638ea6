from __future__ import annotations

from tests.end_to_end.planted import planted, written_areas
from tests.suites import controls, copied_run, small_suite, suite, unacked

__all__ = ["controls", "copied_run", "planted", "small_suite", "suite", "unacked", "written_areas"]
