from __future__ import annotations

from tests.suites import controls, copied_run, suite, unacked

__all__ = ["controls", "copied_run", "suite", "unacked"]
