"""What the host does to textures, by calls that say which texels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .footprints import block_spans
from .resources import resources_of
from .touches import HostStep, Touch, Way, touch
from .where import caller

if TYPE_CHECKING:
    from assay.sim.check import Checker

    from ..textures.layout import Block
    from ..textures.texture import MTLTexture
    from .history import History


def uses_texels(
    history: History, checker: Checker, texture: MTLTexture, block: Block, *, write: bool
) -> None:
    """The host copies texels out of a texture, or into it."""
    resource = next(resources_of(texture))
    spans = block_spans(resource.start + texture.start, block)

    def made(step: HostStep) -> Touch | None:
        return touch(step, resource, [Way(write=write, atomic=False, spans=spans)])

    history.host_touches(made, caller(), checker)
