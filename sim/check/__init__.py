"""Checks: what they look for, what they find, and how findings read."""

from .checker import Checker, parse_checks
from .fault_finding import fault_finding
from .finding import Finding, Party, UnitPlace
from .kinds import DEFAULT_CHECKS, OPTIONAL_CHECKS

__all__ = [
    "DEFAULT_CHECKS",
    "OPTIONAL_CHECKS",
    "Checker",
    "Finding",
    "Party",
    "UnitPlace",
    "fault_finding",
    "parse_checks",
]
