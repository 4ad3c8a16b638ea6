from __future__ import annotations

from tests.engine.conftest import SMALL, little, small, small_suite, texts

__all__ = ["SMALL", "little", "small", "small_suite", "texts"]
