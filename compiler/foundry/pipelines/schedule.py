"""The order of loads, barriers and products of a pipeline, as lines of MSL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .operands import Operands, tile_at
from .pipeline import Pipeline
from .tile import Threads

INDENT = "    "
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def schedule(pipeline: Pipeline, operands: Operands) -> Iterator[str]:
    """From the first load to the last product, for tiles of k from `first` up to `last`.

    Tile t lies in buffer t % buffers. While tile t is multiplied, tile t + buffers - 1 is loaded:
    into the buffer that was read one iteration before, which the barrier between them orders.
    """
    if pipeline.buffers == 1:
        yield from _unbuffered(pipeline, operands)
        return
    ahead = pipeline.buffers - 1
    yield f"// The first {_tiles(ahead)}, by all."
    yield f"for (uint tile = first; tile < min(first + {ahead}, last); ++tile) {{"
    yield from _indented(_load(pipeline, operands, "tile", "THREADS", "thread_index"))
    yield "}"
    yield BARRIER
    yield "for (uint tile = first; tile < last; ++tile) {"
    yield from _indented(_iteration(pipeline, operands, ahead))
    yield "}"


def _unbuffered(pipeline: Pipeline, operands: Operands) -> Iterator[str]:
    yield "for (uint tile = first; tile < last; ++tile) {"
    yield from _indented(_load(pipeline, operands, "tile", "THREADS", "thread_index"))
    yield INDENT + BARRIER
    yield from _indented(_product(pipeline))
    yield INDENT + BARRIER
    yield "}"


def _iteration(pipeline: Pipeline, operands: Operands, ahead: int) -> Iterator[str]:
    if pipeline.is_async:
        yield from _copying(pipeline, operands, ahead)
        return
    loads = [
        f"const uint next = tile + {ahead};",
        "if (next < last) {",
        *_indented(_load(pipeline, operands, "next", "LOADING", "thread_index")),
        "}",
    ]
    if pipeline.loaders:
        yield "if (simdgroup < LOADERS) {"
        yield from _indented(loads)
        yield "} else {"
        yield from _indented(_product(pipeline))
        yield "}"
    else:
        yield from loads
        yield from _product(pipeline)
    yield BARRIER


def _copying(pipeline: Pipeline, operands: Operands, ahead: int) -> Iterator[str]:
    """The first simdgroup begins copies, which go on while all decode and multiply."""
    at = "next * TILE_K", _buffer(pipeline, "next")
    copies = operands.begin(*at)
    yield f"const uint next = tile + {ahead};"
    yield f"thread _simdgroup_event_t* copies[{len(copies)}];"
    yield "if (next < last) {"
    yield INDENT + "if (simdgroup == 0) {"
    for number, copy in enumerate(copies):
        yield 2 * INDENT + f"copies[{number}] = {copy};"
    yield INDENT + "}"
    yield from _indented(operands.finish(*at, "LOADING", "thread_index"))
    yield "}"
    yield from _product(pipeline)
    yield "if (next < last && simdgroup == 0) {"
    yield INDENT + f"wait_for_copies({len(copies)}, copies);"
    yield "}"
    yield BARRIER
    decoded = operands.decode(*at, "LOADING", "thread_index")
    if decoded:
        yield "if (next < last) {"
        yield from _indented(decoded)
        yield "}"
        if pipeline.buffers == 2:
            yield "// The next iteration multiplies what was decoded, and copies over the words."
            yield BARRIER


def _load(
    pipeline: Pipeline, operands: Operands, tile: str, count: str, index: str
) -> Sequence[str]:
    return operands.load(f"{tile} * TILE_K", _buffer(pipeline, tile), count, index)


def _product(pipeline: Pipeline) -> Sequence[str]:
    buffer = _buffer(pipeline, "tile")
    if pipeline.weights == "fused":
        return (
            f"multiply_decoded<Policy>({tile_at('a', buffer)}, matrix, scales, params, decoded, "
            "sums, top, column + left, tile * TILE_K, lane);",
        )
    return (f"multiply({tile_at('a', buffer)}, {tile_at('b', buffer)}, sums, top, left);",)


def store(pipeline: Pipeline) -> Iterator[str]:
    """The results; those who only load have none."""
    if isinstance(pipeline.by, Threads):
        yield ("store(sums, y, params->m, params->n, origin, row + top, column + left, epilogue);")
        return
    call = (
        "store(sums, y, staging, params->m, params->n, origin, row + top, column + left, lane, "
        "epilogue);"
    )
    if pipeline.loaders:
        yield "if (simdgroup >= LOADERS) {"
        yield INDENT + call
        yield "}"
    else:
        yield call


def _buffer(pipeline: Pipeline, tile: str) -> str | None:
    return None if pipeline.buffers == 1 else f"({tile} % {pipeline.buffers})"


def _tiles(count: int) -> str:
    return "tile" if count == 1 else f"{count} tiles"


def _indented(lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)
