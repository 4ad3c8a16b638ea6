from __future__ import annotations

from tests.suites import controls, copied_run, small_suite, suite, unacked

__all__ = ["controls", "copied_run", "small_suite", "suite", "unacked"]
