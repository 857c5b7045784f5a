"""Which bytes the commands of a blit encoder, and those that read sizes, touch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.sim.simt.run.accesses import Spans

from ..textures.layout import Block, blocks
from ..textures.mipmaps import MipmapCommand
from .resources import Resource, resources_of
from .touches import Way, span

if TYPE_CHECKING:
    from ..commands.commands import Command
    from ..objects import MetalObject
    from ..textures.texture import MTLTexture

Footprint = tuple[str, Resource, Way]
"""What the command is called, what it touches, and which bytes."""


def footprints(command: Command) -> Iterator[Footprint]:
    """What a command touches; of dispatches only where their size comes from."""
    from ..commands.commands import (
        CopyCommand,
        CopyTensorCommand,
        FillCommand,
        IndirectDispatchCommand,
    )
    from ..commands.execute import ExecuteCommand
    from ..commands.texture_blit import CopyBlockCommand

    if isinstance(command, CopyCommand):
        yield _plain("copy", command.source, command.source_offset, command.size, write=False)
        target, offset = command.destination, command.destination_offset
        yield _plain("copy", target, offset, command.size, write=True)
    elif isinstance(command, CopyTensorCommand):
        for tensor, write in ((command.source, False), (command.destination, True)):
            yield _plain("copy", tensor.room, tensor.start, tensor.shape.nbytes, write=write)
    elif isinstance(command, FillCommand):
        yield _plain("fill", command.buffer, command.start, command.length, write=True)
    elif isinstance(command, IndirectDispatchCommand):
        yield _plain("size of a dispatch", command.buffer, command.offset, 12, write=False)
    elif isinstance(command, ExecuteCommand) and command.where is not None:
        yield _plain("range of commands", command.where, command.start, 8, write=False)
    elif isinstance(command, CopyBlockCommand):
        owner, other = command.owners
        yield _block(owner, command.source.ctypes.data, command.source_block, write=False)
        yield _block(other, command.target.ctypes.data, command.target_block, write=True)
    elif isinstance(command, MipmapCommand):
        yield from _mipmaps(command.texture)


def block_spans(start: int, block: Block) -> Spans:
    """The rows of a block, in memory that begins at `start`."""
    planes, rows = np.arange(block.planes) * block.image, np.arange(block.rows) * block.row
    firsts = (start + block.offset + planes[:, None] + rows[None, :]).reshape(-1)
    return np.stack((firsts, firsts + block.width), axis=1).astype(np.int64)


def _plain(what: str, thing: MetalObject, offset: int, size: int, *, write: bool) -> Footprint:
    resource = next(resources_of(thing))
    return what, resource, Way(write=write, atomic=False, spans=span(resource.start + offset, size))


def _block(thing: object, start: int, block: Block, *, write: bool) -> Footprint:
    resource = next(resources_of(thing))  # type: ignore[arg-type]
    return "copy", resource, Way(write=write, atomic=False, spans=block_spans(start, block))


def _mipmaps(texture: MTLTexture) -> Iterator[Footprint]:
    """The first level is read, the others are written."""
    resource = next(resources_of(texture))
    layout, start = texture.layout, resource.start + texture.start
    for number, level in enumerate(layout.levels):
        extent = level.width, level.height, level.depth
        slices = blocks(layout, number, 0, (0, 0, 0), extent, layout.slices)
        spans = np.concatenate([block_spans(start, block) for block in slices])
        yield "mipmaps", resource, Way(write=number > 0, atomic=False, spans=spans)
