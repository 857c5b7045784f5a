"""Kinds of findings of all machines: their stable names, what they mean, what to do about them.

Tools that show findings by rule take their texts from here, and so does the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.sim.check import kinds
from assay.sim.check.kinds import Kind

CHECKS = {
    **{name: check.what for name, check in kinds.CHECKS.items()},
    "unread": "A program for the NPU writes bytes that nobody reads.",
}
"""What each check looks for."""

if TYPE_CHECKING:
    KINDS: Mapping[str, Kind]
    """All kinds by their stable names, those of the NPU too."""


@cache
def _all_kinds() -> Mapping[str, Kind]:
    from assay.hw.torq.check.kinds import NPU_KINDS  # only reports about the NPU need it

    others = {
        name: Kind(
            check=kind.check, title=kind.title, help=f"{kind.hint[0].upper()}{kind.hint[1:]}."
        )
        for name, kind in NPU_KINDS.items()
    }
    return {**kinds.KINDS, **others}


def __getattr__(name: str) -> Any:
    if name == "KINDS":
        return _all_kinds()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def kind_of(name: str, check: str) -> Kind:
    """What is known of a kind; for one without an entry, what its check looks for."""
    known = kinds.KINDS.get(name) or _all_kinds().get(name)
    if known is not None:
        return known
    title = name.replace("-", " ").capitalize()
    return Kind(check=check, title=title, help=CHECKS.get(check, ""))
