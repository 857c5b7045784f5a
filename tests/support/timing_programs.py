"""Small programs for the core model: instructions and taped streams written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.hw.apple.lower.code import SOURCES, MachineCode
from assay.sim.simt.emit import tape as r
from assay.sim.simt.emit.tape import Tape
from assay.sim.simt.ir.nodes import Function
from assay.sim.site import Site

ALL_LANES = 0xFFFFFFFF
Position = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An instruction: class, registers that it reads, flops, line of the source.

    Its result is the register of its own number in the program.
    """

    name: str
    reads: tuple[int, ...] = ()
    flops: int = 0
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """An access: lines of 128 bytes; by default one word for each of 32 lanes."""

    lines: tuple[int, ...] = ()
    words: int = 32
    ways: int = 0
    rows: int = 0
    sharing: int = 1
    cached: bool = True


@dataclass(slots=True)
class Program:
    """Blocks of instructions; accesses are numbered in order."""

    blocks: list[list[Op]] = field(default_factory=list)
    moves: list[list[tuple[int, int, int]]] = field(default_factory=list)
    registers: int = 16

    def code(self) -> MachineCode:
        ops = [op for block in self.blocks for op in block]
        classes = tuple(dict.fromkeys(op.name for op in ops))
        sources = np.full((len(ops), SOURCES), -1, np.int32)
        for row, op in zip(sources, ops, strict=True):
            row[: len(op.reads)] = op.reads
        sites = tuple(Site("k.metal", line) for line in range(max(op.line for op in ops) + 1))
        moves = [move for block in self.moves or [[] for _ in self.blocks] for move in block]
        counts = [len(block) for block in self.moves] or [0] * len(self.blocks)
        return MachineCode(
            classes=classes,
            starts=np.cumsum([0, *(len(block) for block in self.blocks)]).astype(np.int32),
            kinds=np.array([classes.index(op.name) for op in ops], np.int16),
            destinations=np.arange(len(ops), dtype=np.int32),
            sources=sources,
            accesses=np.array(self._ordinals(), np.int32),
            flops=np.array([op.flops for op in ops], np.int32),
            places=np.array([op.line for op in ops], np.int32),
            sites=sites,
            move_starts=np.cumsum([0, *counts]).astype(np.int32),
            moves=np.array(moves, np.int32).reshape(-1, 3),
            register_count=len(ops),
            registers=self.registers,
            uniform_registers=0,
            names=tuple(f"block{number}" for number in range(len(self.blocks))),
        )

    def _ordinals(self) -> list[int]:
        found = []
        for block in self.blocks:
            count = 0
            for op in block:
                touches = any(word in op.name for word in ("load", "store", "atomic"))
                found.append(count if touches else -1)
                count += touches
        return found

    def tape(
        self,
        streams: Sequence[Sequence[tuple[int, Sequence[Touch]]]],
        *,
        simdgroups: int = 1,
        grid: Position | None = None,
        positions: tuple[Position, ...] | None = None,
        threadgroup_memory: int = 0,
        lanes: int = ALL_LANES,
    ) -> Tape:
        """Streams of (block, accesses), one after the other for all simdgroups."""
        packed = [_stream(stream, lanes) for stream in streams]
        groups = len(streams) // simdgroups
        ordinals, known = iter(self._ordinals()), [0]
        for block in self.blocks:
            known.append(known[-1] + sum(next(ordinals) >= 0 for _ in block))
        return Tape(
            function=Function("k", [], 0, 0, b""),
            threadgroups=positions or tuple((number, 0, 0) for number in range(groups)),
            simdgroups=simdgroups,
            words=np.array([word for stream in packed for word in stream], np.uint64),
            starts=np.cumsum([0, *(len(stream) for stream in packed)]).astype(np.int64),
            known=np.zeros(known[-1], np.uint64),
            known_starts=np.array(known, np.int64),
            grid=grid or (groups, 1, 1),
            threadgroup_memory=threadgroup_memory,
        )


def _stream(events: Sequence[tuple[int, Sequence[Touch]]], lanes: int) -> list[int]:
    words = []
    for block, touches in events:
        words.append(_head(r.BLOCK, block, lanes))
        for ordinal, touch in enumerate(touches):
            words += [_head(r.ACCESS, ordinal, lanes), _about(touch), *touch.lines]
    return words


def _head(kind: int, number: int, lanes: int) -> int:
    return kind | number << r.NUMBER_SHIFT | lanes << r.LANES_SHIFT


def _about(touch: Touch) -> int:
    rows = len(touch.lines) or touch.rows
    word = rows << r.LINES_SHIFT | touch.words << r.WORDS_SHIFT | touch.ways << r.WAYS_SHIFT
    word |= touch.sharing << r.SHARING_SHIFT | 4 << r.BYTES_SHIFT
    return word | (r.CACHED if touch.cached else 0)


def straight(ops: Sequence[Op], *, repeat: int = 1, registers: int = 16) -> Program:
    """A program of one block."""
    return Program(blocks=[list(ops) * repeat], registers=registers)
