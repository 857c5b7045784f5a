"""What a check cannot begin with."""

from __future__ import annotations


class CheckInputError(ValueError):
    """What a kernel should be checked with is wrong; `str()` says where, and what was expected."""


class CheckFindings(AssertionError):
    """A checked kernel has findings; `str()` is the report."""
