"""The text of a pipeline in MSL: constants, functions for tiles, and the function that runs it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..lines import folded
from ..structs.types import Scalar
from .operands import Operands
from .pipeline import Pipeline
from .schedule import BARRIER, INDENT, schedule, store
from .tile import Threads

_FOLDER: Final = Path(__file__).parent


def constants(
    pipeline: Pipeline,
    operands: Operands,
    output: Scalar,
    params: str,
    staged: int,
    *,
    is_direct: bool,
) -> Iterator[str]:
    """Types and numbers of the declaration, by which the functions are written."""
    tile = pipeline.tile
    yield "#define ALWAYS_INLINE inline __attribute__((always_inline))"
    yield f"using T = {operands.element.name};"
    yield f"using S = {pipeline.accumulator.name};"
    yield f"using Y = {output.name};"
    yield f"using Params = {params};"
    along_m, along_n = pipeline.share
    numbers = {
        "TILE_M": tile.m,
        "TILE_N": tile.n,
        "TILE_K": tile.k,
        "A_TILE": tile.a_elements,
        "B_TILE": tile.b_elements,
        "WORD_TILE": tile.b_elements // 8,
        "THREADS": pipeline.threads,
        "LOADING": pipeline.loading,
        "ALONG_M": along_m,
        "ALONG_N": along_n,
    }
    if isinstance(pipeline.by, Threads):
        numbers |= {"THREAD_ROWS": pipeline.by.rows, "THREAD_COLUMNS": pipeline.by.columns}
    else:
        numbers |= {"SIMDGROUP_COLUMNS": pipeline.by.columns, "STAGED": staged}
        numbers |= {"LOADERS": pipeline.loaders} if pipeline.loaders else {}
    if pipeline.band > 1:
        numbers["BAND"] = pipeline.band
    for name, number in numbers.items():
        yield f"constant constexpr uint {name} = {number};"
    truths = {"A_TURNED": operands.turned[0], "B_TURNED": operands.turned[1]}
    if not isinstance(pipeline.by, Threads):
        truths["IS_DIRECT"] = is_direct
    for name, truth in truths.items():
        yield f"constant constexpr bool {name} = {str(truth).lower()};"


def used(lines: Iterable[str], body: str) -> Iterator[str]:
    """Without the constants that the body does not name."""
    for line in lines:
        found = re.match(r"constant constexpr \w+ (\w+) =", line)
        if found is None or re.search(rf"\b{found[1]}\b", body):
            yield line


def functions(pipeline: Pipeline, operands: Operands) -> str:
    """Those for tiles that the pipeline calls."""
    files = ["copy.h", "async.h"] if pipeline.is_async else ["copy.h"]
    if operands.weights is not None:
        files.append("decode.h")
    if pipeline.weights == "packed":
        files.append("words.h")
    files.append("threads.h" if isinstance(pipeline.by, Threads) else "matrices.h")
    if pipeline.weights == "fused":
        files.append("fused.h")
    texts = ((file, (_FOLDER / file).read_text(encoding="utf-8")) for file in files)
    return "\n".join(f'#line 1 "{file}"\n{text}' for file, text in texts)


def product(
    pipeline: Pipeline,
    operands: Operands,
    parameters: Sequence[str],
    *,
    is_striped: bool,
) -> Iterator[str]:
    """The function `product`, line by line."""
    yield '#line 1 "product.h"'
    policy = "typename Policy, " if operands.weights is not None else ""
    yield f"template <{policy}typename Epilogue>"
    yield from folded(f"void product({', '.join(parameters)}) {{", "")
    body = [*_places(pipeline), *operands.setup()]
    body += _striped(pipeline, operands) if is_striped else _whole(pipeline, operands)
    for line in body:
        yield from folded(line, INDENT)
    yield "}\n"


def _places(pipeline: Pipeline) -> Iterator[str]:
    """Where in the tile a thread or simdgroup computes."""
    if isinstance(pipeline.by, Threads):
        yield "const uint top = thread_index / THREAD_COLUMNS;"
        yield "const uint left = thread_index % THREAD_COLUMNS;"
    else:
        if pipeline.loaders:
            yield "const uint own = simdgroup < LOADERS ? 0 : simdgroup - LOADERS;"
        else:
            yield "const uint own = simdgroup;"
        yield "const uint top = own / SIMDGROUP_COLUMNS * ALONG_M * 8;"
        yield "const uint left = own % SIMDGROUP_COLUMNS * ALONG_N * 8;"
        yield "// Results take the room of the tiles, which nobody reads any more."
        room = "reinterpret_cast<threadgroup S*>(a_tiles)"
        yield f"threadgroup S* staging = {room} + own * STAGED * 64;"
        if pipeline.weights == "fused":
            yield "decoded += own * 64;"
    yield "const uint tiles = (params->k + TILE_K - 1) / TILE_K;"


def _whole(pipeline: Pipeline, operands: Operands) -> Iterator[str]:
    """One threadgroup for each tile of the product."""
    yield from _banded() if pipeline.band > 1 else _in_rows()
    yield "const uint first = 0;"
    yield "const uint last = tiles;"
    yield "const ulong origin = ulong(gid.z) * params->m * params->n;"
    yield "Sums sums[ALONG_M][ALONG_N];"
    yield "clear(sums);"
    yield from schedule(pipeline, operands)
    yield from store(pipeline)


def _in_rows() -> Iterator[str]:
    yield "const uint row = gid.y * TILE_M;"
    yield "const uint column = gid.x * TILE_N;"


def _banded() -> Iterator[str]:
    """Threadgroups by number: down the rows of a band, then on to the next column of tiles."""
    yield "const uint across = (params->n + TILE_N - 1) / TILE_N;"
    yield "const uint down = (params->m + TILE_M - 1) / TILE_M;"
    yield "const uint number = gid.y * across + gid.x;"
    yield "const uint top_of_band = number / (BAND * across) * BAND;"
    yield "const uint height = min(BAND, down - top_of_band);"
    yield "const uint row = (top_of_band + number % (BAND * across) % height) * TILE_M;"
    yield "const uint column = number % (BAND * across) / height * TILE_N;"


def _striped(pipeline: Pipeline, operands: Operands) -> Iterator[str]:
    """Threadgroups take pairs of a tile and a slice of k in turn; a slice may be empty."""
    yield "const uint across = (params->n + TILE_N - 1) / TILE_N;"
    yield "const uint down = (params->m + TILE_M - 1) / TILE_M;"
    yield "const uint share = (tiles + params->slices - 1) / params->slices;"
    yield "const uint units = across * down * params->slices;"
    yield "for (uint unit = gid.x; unit < units; unit += params->groups) {"
    inner = [
        "const uint slice = unit % params->slices;",
        "const uint place = unit / params->slices;",
        "const uint row = place / across * TILE_M;",
        "const uint column = place % across * TILE_N;",
        "const uint first = min(slice * share, tiles);",
        "const uint last = min(first + share, tiles);",
        "const ulong origin = ulong(slice) * params->m * params->n;",
        "Sums sums[ALONG_M][ALONG_N];",
        "clear(sums);",
        *schedule(pipeline, operands),
        *store(pipeline),
        "// Its results are out of the tiles' room before the next tiles come in.",
        BARRIER,
    ]
    yield from (INDENT + line for line in inner)
    yield "}"
