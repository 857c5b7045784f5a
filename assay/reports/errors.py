"""Findings as an exception."""


class CheckFindings(AssertionError):
    """A checked kernel has findings; `str()` is the report."""
