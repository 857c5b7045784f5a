"""What can be wrong with a sweep, in words for people."""

from __future__ import annotations


class SweepError(Exception):
    """A space, a folder of rows or a selector that cannot be used; `str()` says why, and where."""


class MissingExtra(SweepError):
    """A package that comes with an optional extra is not installed."""

    def __init__(self, package: str, extra: str = "sweep") -> None:
        super().__init__(
            f"{package} is needed for this and is not installed; install it with: "
            f'pip install "assay-emulator[{extra}]"'
        )
