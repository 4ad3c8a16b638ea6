from __future__ import annotations

from tests.suites import suite

__all__ = ["suite"]
