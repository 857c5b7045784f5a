"""Kinds of findings of all machines: their stable names, what they mean, what to do about them.

Tools that show findings by rule take their texts from here, and so does the documentation.
"""

from __future__ import annotations

from assay.hw.torq.check.kinds import NPU_KINDS, UNREAD
from assay.sim.check import kinds
from assay.sim.check.kinds import Kind

CHECKS = {
    **{name: check.what for name, check in kinds.CHECKS.items()},
    UNREAD: "A program for the NPU writes bytes that nobody reads.",
}
"""What each check looks for."""

KINDS: dict[str, Kind] = {
    **kinds.KINDS,
    **{
        name: Kind(
            check=kind.check, title=kind.title, help=f"{kind.hint[0].upper()}{kind.hint[1:]}."
        )
        for name, kind in NPU_KINDS.items()
    },
}
"""All kinds by their stable names."""


def kind_of(name: str, check: str) -> Kind:
    """What is known of a kind; for one without an entry, what its check looks for."""
    known = KINDS.get(name)
    if known is not None:
        return known
    title = name.replace("-", " ").capitalize()
    return Kind(check=check, title=title, help=CHECKS.get(check, ""))
