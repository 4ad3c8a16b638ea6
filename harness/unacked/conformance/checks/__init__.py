"""The checks: each plays scenarios and reads off the probes' lines whether one property holds."""

from __future__ import annotations

from collections.abc import Mapping

from unacked.conformance.check import Check
from unacked.conformance.checks.lifecycle import LIFECYCLE, TIMEOUTS
from unacked.conformance.checks.recovery import RECOVERY
from unacked.conformance.checks.saga import SAGA
from unacked.conformance.checks.schedule import RETRIES, SCHEDULE
from unacked.conformance.checks.values import AGGREGATION, ISOLATION

__all__ = ["CHECKS"]

CHECKS: Mapping[str, Check] = {
    check.id: check
    for group in (RECOVERY, LIFECYCLE, SCHEDULE, RETRIES, TIMEOUTS, ISOLATION, AGGREGATION, SAGA)
    for check in group
}
