"""Formats of blocks: so many weights of a row stand with their scales, as GGUF has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .packed import NO_SCALES, Bytes, Named, Packed, Weights, as_bytes, matrix_of

Fields = Mapping[str, Bytes]
"""The fields of blocks: bytes [blocks, bytes of the field]."""


@dataclass(frozen=True, slots=True)
class Field:
    """Bytes of a block; in split planes those of the weights and those of scales lie apart."""

    name: str
    size: int
    plane: Literal["matrix", "scales"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFormat(Named):
    """Blocks of `multiple` weights, each with its fields in order.

    `body` is MSL: it writes `w[0]` to `w[7]`, the weights of block `block` from `first` on, a
    multiple of 8; `name(matrix, scales, block)` points to the field of that name. `codes`, where
    there is one, writes codes instead, and returns (scale, offset): weights are scale * code +
    offset. `both_codes` writes those from `first + 16` on, too, to `others`; `first` is 0 or 8.
    """

    name: str
    multiple: int
    fields: tuple[Field, ...]
    encode: Callable[[Weights], Fields]
    decode: Callable[[Fields], Weights]
    body: str
    codes: str | None = None
    both_codes: str | None = None
    layout: Literal["blocks", "split", "canonical"] = "blocks"
    """Blocks as they are; weights and scales apart; or that, and blocks of weights of neighbouring
    rows beside each other, those of scales row by row."""

    @property
    def block_bytes(self) -> int:
        """Bytes of a block with all of its fields."""
        return sum(field.size for field in self.fields)

    def split(self) -> BlockFormat:
        """The same blocks with their weights in buffer 0 and their scales in buffer 1."""
        return replace(self, name=f"{self.name}_split", layout="split")

    def canonical(self) -> BlockFormat:
        """The same, with blocks of weights in Foundry's canonical order, [columns / n, rows]."""
        return replace(self, name=f"{self.name}_canonical", layout="canonical")

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns] in blocks. Raises FoundryError."""
        found = matrix_of(weights, self)
        fields = self.encode(found.reshape(-1, self.multiple))
        matrix = self._plane(fields, "matrix")
        if self.layout == "canonical":
            matrix = matrix.reshape(len(found), -1, matrix.shape[1]).swapaxes(0, 1)
        scales = NO_SCALES if self.layout == "blocks" else self._plane(fields, "scales")
        return Packed(as_bytes(matrix), as_bytes(scales), *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        blocks = packed.rows * packed.columns // self.multiple
        fields = {}
        for field in self.fields:
            buffer, stride, offset = self._place(field)
            plane = getattr(packed, buffer).reshape(blocks, stride)
            if self.layout == "canonical" and buffer == "matrix":
                turned = plane.reshape(-1, packed.rows, stride).swapaxes(0, 1)
                plane = turned.reshape(blocks, stride)
            fields[field.name] = plane[:, offset : offset + field.size]
        with np.errstate(invalid="ignore", over="ignore"):  # bytes of others may be any number
            return self.decode(fields).reshape(packed.rows, packed.columns)

    @property
    def text(self) -> str:
        """The struct in MSL."""
        accessors = "\n".join(self._accessor(field) for field in self.fields)
        where = "in buffer 0"
        if self.layout != "blocks":
            where = "weights in buffer 0, scales in buffer 1"
        if self.layout == "canonical":
            where += "; blocks of weights [columns, rows]"
        return f"""\
// {self.multiple} weights in {self.block_bytes} bytes, {where}.
struct {self.policy} {{
{accessors}
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
{self._block}
        const uint first = k % {self.multiple};
{self.body.rstrip()}
    }}
{self._codes}}};
"""

    @property
    def _codes(self) -> str:
        made = ""
        for function, body, more in (
            ("codes8", self.codes, ""),
            ("codes16", self.both_codes, ", thread float* others"),
        ):
            if body is not None:
                head = f"    static float2 {function}("
                made += f"""\
{head}const device uchar* matrix, const device uchar* scales, uint rows,
{" " * len(head)}uint columns, uint row, uint k, thread float* w{more}) {{
{self._block}
        const uint first = k % {self.multiple};
{body.rstrip()}
    }}
"""
        return made

    @property
    def _block(self) -> str:
        """The number of a block; those of its scales and of its weights where they differ."""
        count = self.multiple
        by_rows = f"ulong(row) * (columns / {count}) + k / {count}"
        if self.layout != "canonical":
            return f"        const ulong block = {by_rows};"
        by_columns = f"ulong(k / {count}) * rows + row"
        return f"        const ulong2 block = ulong2({by_rows}, {by_columns});"

    def _plane(self, fields: Fields, plane: str) -> Bytes:
        """Bytes [blocks, bytes of those fields]."""
        chosen = [f.name for f in self.fields if self.layout == "blocks" or f.plane == plane]
        return np.concatenate([fields[name] for name in chosen], axis=1)

    def _place(self, field: Field) -> tuple[str, int, int]:
        """The buffer of a field, bytes from block to block in it, and where the field begins."""
        is_whole = self.layout == "blocks"
        buffer = "matrix" if is_whole else field.plane
        beside = [f for f in self.fields if is_whole or f.plane == buffer]
        before = beside[: beside.index(field)]
        return buffer, sum(f.size for f in beside), sum(f.size for f in before)

    def _accessor(self, field: Field) -> str:
        buffer, stride, offset = self._place(field)
        begin = f" + {offset}" if offset else ""
        head = f"    static const device uchar* {field.name}("
        kind, block = "ulong", "block"
        if self.layout == "canonical":
            kind, block = "ulong2", f"block.{'y' if buffer == 'matrix' else 'x'}"
        return f"""\
{head}const device uchar* matrix,
{" " * len(head)}const device uchar* scales, {kind} block) {{
        return {buffer} + {block} * {stride}{begin};
    }}"""
