from __future__ import annotations

from tests.end_to_end.planted import planted, shipped_suite, written_areas
from tests.suites import controls, copied_run, small_suite, suite, unacked

__all__ = ["controls", "copied_run", "planted", "shipped_suite", "small_suite", "suite", "unacked", "written_areas"]
