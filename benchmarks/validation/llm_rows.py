"""Rows of llama.cpp on LLaMA-2-7B: a step as the list of its dispatches.

Shapes are the model's; kernels and their threadgroups are in the manner of llama.cpp's Metal
kernels of the time. All dispatches of a step are in one serial pass, each waits for the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .cases import Case, Predict, Status
from .launches import Buffer, Launch, Scalars, Size, kernel_text, number, size
from .machine import Machine
from .published import Row

GROUP = "llm"
LAYERS, WIDTH, HIDDEN, HEADS, HEAD, WORDS = 32, 4096, 11008, 32, 128, 32000
# Bytes of a block of 32 weights, and the value of WEIGHTS.
_BLOCKS = {"F16": (64, 16), "Q8_0": (34, 8), "Q4_0": (18, 4)}
_ROWS_PER_GROUP = 8  # of a quantised matrix times vector
# tg128 makes 128 tokens from nothing; the mean length of the cache, in whole blocks of 32.
_MEAN_CACHE = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """A launch that a step makes so often."""

    launch: Launch
    count: int


def _launch(
    kernel: str,
    arguments: tuple[Buffer | Scalars, ...],
    groups: Size,
    threads: Size,
    weights: int = 16,
) -> Launch:
    return Launch(
        source=kernel_text("llama", WEIGHTS=weights),
        kernel=kernel,
        arguments=arguments,
        threadgroups=groups,
        threads=threads,
    )


def _matrix(kind: str, rows: int, columns: int, vectors: int) -> Launch:
    """Weights times one vector or many."""
    block, weights = _BLOCKS[kind]
    row_blocks = columns // 32
    arguments = (
        Buffer(bytes=rows * row_blocks * block),
        Buffer(bytes=4 * columns * vectors),
        Buffer(bytes=4 * rows * vectors),
        number(rows, columns, vectors, row_blocks),
    )
    if vectors > 1:
        groups = size(-(-vectors // 32), -(-rows // 64))
        return _launch("matmul", arguments, groups, size(128), weights)
    if kind == "F16":
        return _launch("matvec_f16", arguments, size(rows), size(32))
    kernel = "matvec_q8" if kind == "Q8_0" else "matvec_q4"
    return _launch(kernel, arguments, size(rows // _ROWS_PER_GROUP), size(64), weights)


def _attention(tokens: int, cache: int) -> Iterator[Times]:
    """Scores, softmax and the values' sums of all heads, the cache in halves."""
    halves = HEADS * cache * HEAD * 2
    for rows, columns in ((cache, HEAD), (HEAD, cache)):
        arguments = (
            Buffer(bytes=halves),
            Buffer(bytes=4 * HEADS * tokens * columns),
            Buffer(bytes=4 * HEADS * tokens * rows),
            number(rows, columns, tokens, columns // 32),
        )
        if tokens == 1:
            launch = _launch("matvec_f16", arguments, size(rows, 1, HEADS), size(32))
        else:
            groups = size(-(-tokens // 32), -(-rows // 64), HEADS)
            launch = _launch("matmul", arguments, groups, size(128))
        yield Times(launch=launch, count=1)
    threads = max(32, min(1024, cache // 4 // 32 * 32))
    scores = Buffer(bytes=4 * HEADS * tokens * cache)
    arguments2 = (scores, scores, number(cache), number(0.088, dtype="float32"))
    yield Times(launch=_launch("softmax", arguments2, size(HEADS * tokens), size(threads)), count=1)


def _elementwise(kernel: str, inputs: int, elements: int) -> Launch:
    """Vectors of four, 256 threads a threadgroup."""
    arguments = (Buffer(bytes=4 * elements),) * (inputs + 1)
    return _launch(kernel, arguments, size(max(1, elements // 1024)), size(256))


def _scale(tokens: int) -> Launch:
    each = Buffer(bytes=4 * WIDTH * tokens)
    arguments = (each, Buffer(bytes=4 * WIDTH), each, number(WIDTH))
    return _launch("scale_rows", arguments, size(WIDTH * tokens // 1024), size(256))


def _norm(tokens: int) -> Iterator[Times]:
    each = Buffer(bytes=4 * WIDTH * tokens)
    norm = _launch("rms_norm", (each, each, number(WIDTH)), size(tokens), size(512))
    yield Times(launch=norm, count=1)
    yield Times(launch=_scale(tokens), count=1)


def _layer(kind: str, tokens: int, cache: int) -> Iterator[Times]:
    each = Buffer(bytes=4 * WIDTH * tokens)
    rope = _launch("rope", (each, each, number(HEAD)), size(HEADS, tokens), size(32))
    yield from _norm(tokens)
    yield Times(launch=_matrix(kind, WIDTH, WIDTH, tokens), count=4)  # q, k, v, and after the heads
    yield Times(launch=rope, count=2)
    yield Times(launch=_elementwise("to_half", 1, WIDTH * tokens), count=2)  # into the cache
    yield from _attention(tokens, cache)
    yield Times(launch=_elementwise("copy", 1, WIDTH * tokens), count=1)  # heads side by side
    yield Times(launch=_elementwise("add", 2, WIDTH * tokens), count=2)
    yield from _norm(tokens)
    yield Times(launch=_matrix(kind, HIDDEN, WIDTH, tokens), count=2)
    yield Times(launch=_elementwise("silu", 1, HIDDEN * tokens), count=1)
    yield Times(launch=_elementwise("multiply", 2, HIDDEN * tokens), count=1)
    yield Times(launch=_matrix(kind, WIDTH, HIDDEN, tokens), count=1)


def step(kind: str, tokens: int) -> tuple[Times, ...]:
    """All dispatches of a step on so many tokens; only the last one's words are wanted."""
    cache = tokens if tokens > 1 else _MEAN_CACHE
    layer = [Times(launch=t.launch, count=LAYERS * t.count) for t in _layer(kind, tokens, cache)]
    words = "Q8_0" if kind == "Q4_0" else kind  # Q4_0 files keep these in 6 bits
    last = (*_norm(1), Times(launch=_matrix(words, WORDS, WIDTH, 1), count=1))
    return (*layer, *last)


def seconds(machine: Machine, kind: str, tokens: int) -> float:
    """A command buffer with a step."""
    each = sum(t.count * machine.in_turn(t.launch) for t in step(kind, tokens))
    return each + machine.overheads.command_buffer / 1e9


def tokens_per_second(kind: str, workload: str) -> Predict:
    """Of "tg" or "pp" and a number of tokens."""
    tokens = int(workload[2:]) if workload.startswith("pp") else 1
    return lambda machine: tokens / seconds(machine, kind, tokens)


_LLAMA2 = re.compile(r"llama\.cpp LLaMA-2-7B (F16|Q8_0|Q4_0) (pp512|tg128)(.*)")


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of language models; None if it is of another kind."""
    if found := _LLAMA2.match(row.workload):
        predict = tokens_per_second(found[1], found[2])
        status, why = Status.COUNTED, ""
        if "second run" in found[3]:
            status, why = Status.SHOWN, "a second run of what another row has"
        return Case(row=row, chip=chip, group=GROUP, status=status, why=why, predict=predict)
    if row.workload == "token generation speed-up over M4":
        return _speed_up(row, chip)
    if row.workload.startswith("llama.cpp"):
        why = "another model, whose kernels and shapes are not written here"
        return Case(row=row, chip=chip, group=GROUP, status=Status.OUT, why=why)
    if row.workload.startswith("time to first token"):
        why = "uses the matrix units of Apple10, which MSL's simdgroup matrices do not reach"
        return Case(row=row, chip=chip, group=GROUP, status=Status.OUT, why=why)
    return None


def _speed_up(row: Row, chip: str) -> Case:
    def predict(machine: Machine) -> float:
        other = machine.sibling("m4")
        return seconds(other, "Q4_0", 1) / seconds(machine, "Q4_0", 1)

    return Case(row=row, chip=chip, group=GROUP, status=Status.COUNTED, predict=predict)
