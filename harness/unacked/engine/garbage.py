"""The garbage collector, kept from walking again and again through what a long command has loaded for good."""

from __future__ import annotations

import gc

__all__ = ["settle_garbage"]

_COLLECT_EVERY = 20_000
"""Allocations between collections of the youngest garbage; the default of 700 costs a trial 0.15 CPU ms."""


def settle_garbage() -> None:
    """Take what is loaded by now, such as a suite, for permanent, and look for garbage less often.

    A suite is a hundred thousand objects that never go; trials over HTTP and records hold no cycles, so
    there is hardly anything to find.
    """
    gc.collect(1)  # a whole collection takes a tenth of a second or more and finds nothing
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY)
