"""Kernels of MLX's wheel under all checks, launched as MLX launches them: nothing is found.

What is bound too short is found, with the buffer, the byte and the thread.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from assay.compiler.air import AirLibrary, open_library
from assay.launches.constants import compiled_kernel
from assay.launches.plan import make_plan
from assay.sim.check import Checker, Finding
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.ir.faults import KernelFault
from benchmarks.apple.launches import launch_of as host_launch_of
from tests.support.wheels import member

pytestmark = pytest.mark.slow
_LIBRARY = ("mlx-metal==0.32.4", "mlx/lib/mlx.metallib")
_COUNT = 300  # elements of what is computed one by one
_ROWS, _COLUMNS = 3, 256
_MOST = 200  # kernels
# Bytes of an element, of a size that every type of MLX fits in.
_SIZES = {"bool_": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "bfloat16": 2, "complex64": 8}
_SIZES |= {f"u{name}": size for name, size in _SIZES.items() if name.startswith("int")}
_SIZES |= {"float16": 2, "float32": 4}
_TYPE = "|".join(sorted(_SIZES, key=len, reverse=True))

Size = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How MLX launches a kernel: bytes of each buffer, or what a constant is, by index."""

    buffers: Mapping[int, int | bytes]
    threads: Size | None = None
    threadgroups: Size | None = None
    threadgroup: Size


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def launch_of(name: str) -> Launch | None:
    """As `unary.cpp`, `binary.cpp`, `copy.cpp`, `softmax.cpp` and others of MLX's host code do."""
    one_by_one = (_COUNT, 1, 1), (256, 1, 1)
    if found := re.fullmatch(rf"v_[A-Z]\w*?({_TYPE})({_TYPE})", name):
        sizes = [_SIZES[kind] for kind in found.groups()]
        given = {at: _COUNT * size for at, size in enumerate(sizes)} | {2: u32(_COUNT)}
        return Launch(buffers=given, threads=one_by_one[0], threadgroup=one_by_one[1])
    if found := re.fullmatch(rf"([vs])_copy({_TYPE})({_TYPE})", name):
        read, written = (_SIZES[kind] for kind in found.groups()[1:])
        source = read * (_COUNT if found[1] == "v" else 1)
        given = {0: source, 1: _COUNT * written, 2: u32(_COUNT)}
        return Launch(buffers=given, threads=one_by_one[0], threadgroup=one_by_one[1])
    if found := re.fullmatch(rf"(vv|vs|sv|ss)_(?!Select)([A-Z]\w*?)({_TYPE})", name):
        size = _SIZES[found[3]]
        compares = re.fullmatch("(Not)?Equal|NaNEqual|Greater\\w*|Less\\w*|Logical\\w*", found[2])
        lengths = [_COUNT * size if side == "v" else size for side in found[1]]
        lengths += [_COUNT * (1 if compares else size)] * (2 if found[2] == "DivMod" else 1)
        given = dict(enumerate(lengths)) | {len(lengths): u32(_COUNT)}
        return Launch(buffers=given, threads=one_by_one[0], threadgroup=one_by_one[1])
    if found := re.fullmatch(rf"arange({_TYPE})", name):
        size = _SIZES[found[1]]
        given = {0: bytes(size), 1: bytes(size), 2: _COUNT * size}
        return Launch(buffers=given, threads=one_by_one[0], threadgroup=one_by_one[1])
    return _of_rows(name)


def _of_rows(name: str, columns: int = _COLUMNS) -> Launch | None:
    """One threadgroup for each row."""
    kinds = "block_softmax|block_logsumexp|rms|layer_norm"
    found = re.fullmatch(rf"({kinds})(?:_precise)?_?({_TYPE})", name)
    if found is None:
        return None
    size = _SIZES[found[2]]
    whole, row = _ROWS * columns * size, columns * size
    eps, length, one = struct.pack("<f", 1e-5), u32(columns), u32(1)
    given: dict[str, list[int | bytes]] = {
        "block_softmax": [whole, whole, length],
        "block_logsumexp": [whole, _ROWS * size, length],
        "rms": [whole, row, whole, eps, length, one],
        "layer_norm": [whole, row, row, whole, eps, length, one, one],
    }
    threads = -(-columns // (8 if found[1] == "layer_norm" else 4) // 32) * 32
    return Launch(
        buffers=dict(enumerate(given[found[1]])),
        threadgroups=(_ROWS, 1, 1),
        threadgroup=(max(32, threads), 1, 1),
    )


def findings(library: AirLibrary, name: str, launch: Launch, short: int = -1) -> list[Finding]:
    """What all checks say; buffer `short` lacks its last element.

    Raises:
        KernelFault: if an access is out of bounds.
    """
    kernel = library.function(name)
    checker, memory, arguments = Checker(), Memory(), []
    for argument in kernel.arguments:
        given = launch.buffers[argument.index]
        data = (
            np.frombuffer(given, np.uint8) if isinstance(given, bytes) else np.ones(given, np.uint8)
        )
        data = data[: len(data) - (argument.size if argument.index == short else 0)].copy()
        arguments.append(memory.register(data, name=argument.name))
    executable = kernel.program().specialise(launch.threadgroup, checker.observers)
    dispatch(
        executable,
        memory,
        arguments,
        threads=launch.threads,
        threadgroups=launch.threadgroups,
        checker=checker,
    )
    return list(checker.findings)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> AirLibrary:
    return open_library(member(*_LIBRARY, tmp_path_factory.mktemp("wheels")))


@pytest.fixture(scope="module")
def launches(library: AirLibrary) -> Mapping[str, Launch]:
    """Kernels spread over those whose launch is known."""
    known = {name: launch for name in library.function_names if (launch := launch_of(name))}
    rows = {name: launch for name, launch in known.items() if launch.threadgroups}
    others = [name for name in known if name not in rows]
    step = len(others) / (_MOST - len(rows))
    chosen = [others[int(at * step)] for at in range(_MOST - len(rows))]
    return rows | {name: known[name] for name in chosen}


def test_nothing_is_found_in_kernels_that_are_launched_as_their_library_does(
    library: AirLibrary, launches: Mapping[str, Launch]
) -> None:
    assert len(launches) == _MOST
    found = {name: findings(library, name, launch) for name, launch in launches.items()}
    assert {name: each for name, each in found.items() if each} == {}


OF_FAMILIES = (
    "naive_unfold_nd_float32_2",
    "four_step_mem_256_float2_float2_1_false",
    "vjp_layer_normfloat32",
    "layer_norm_loopedfloat16",
    "col_reduce_small_2_reduce_orfloat16",
    "col_reduce_longcolumn_5_reduce_sumuint8",
    "col_reduce_looped_2_32_32_reduce_minuint8",
    "steel_attention_float16_bq32_bk16_bd128_bv128_wm4_wn1_maskfloat16",
    "implicit_gemm_conv_2d_float32_bm32_bn8_bk16_wm4_wn1_channel_l_filter_s",
    "implicit_gemm_conv_3d_float32_bm32_bn8_bk16_wm4_wn1_filter_s",
    "implicit_gemm_conv_2d_general_float32_bm32_bn32_bk16_wm2_wn2",
    "gn4large_ArcCoshbfloat16bfloat16",
    "steel_gather_mm_rhs_nn_float16_float16_bm16_bn64_bk16_wm1_wn2",
    "steel_gather_mm_nt_float16_float16_bm64_bn64_bk16_wm2_wn2",
    "steel_segmented_mm_tn_float16_float16_bm64_bn64_bk16_wm1_wn2",
    "steel_gemm_fused_nn_float16_float16_bm64_bn64_bk16_wm2_wn2",
)
"""Of kernels that are no rows or single elements, one of each kind."""


@pytest.mark.parametrize("name", OF_FAMILIES)
def test_nothing_is_found_in_products_convolutions_and_their_like(
    library: AirLibrary, name: str
) -> None:
    setup = host_launch_of(name)
    kernel, _ = compiled_kernel(library, name, setup.constants)
    plan = make_plan(kernel, setup, growth=4096, shrink=1)
    given = {(each.argument.kind, each.argument.index): each for each in plan.bound}
    checker, memory, arguments = Checker(), Memory(), []
    for argument in kernel.arguments:
        bound = given[argument.kind, argument.index]
        if bound.data is None:
            arguments.append(bound.length)
        else:
            data = np.array(bound.data, copy=True)
            arguments.append(memory.register(data, name=argument.name))
    dispatch(
        kernel.program().specialise(plan.grid.threadgroup, checker.observers),
        memory,
        arguments,
        threads=plan.grid.threads,
        threadgroups=plan.grid.threadgroups,
        checker=checker,
    )
    assert list(checker.findings) == []


def test_a_row_that_does_not_fill_the_threadgroup_of_a_layer_norm_is_written_beyond(
    library: AirLibrary,
) -> None:
    # MLX's layer_norm starts at `thread_x[n]` where n is what is left of the row for the thread,
    # which is -8 for the second thread behind its end.
    launch = _of_rows("layer_normfloat32", columns=200)
    assert launch is not None
    beyond = r"(?s)write of 4 bytes at byte -32 of a private variable.*lane 26"
    with pytest.raises(KernelFault, match=beyond):
        findings(library, "layer_normfloat32", launch)


def planted(launches: Mapping[str, Launch]) -> Iterator[tuple[str, Launch, int]]:
    """Every twentieth kernel, with its last buffer too short."""
    for name in list(launches)[::20]:
        launch = launches[name]
        buffers = [index for index, given in launch.buffers.items() if isinstance(given, int)]
        yield name, launch, buffers[-1]


def test_a_buffer_that_is_too_short_is_found_with_byte_and_thread(
    library: AirLibrary, launches: Mapping[str, Launch]
) -> None:
    cases = list(planted(launches))
    assert len(cases) == 10
    for name, launch, short in cases:
        argument = next(each for each in library.function(name).arguments if each.index == short)
        length = launch.buffers[short]
        assert isinstance(length, int)
        place = rf"at byte {length - argument.size} of {argument.name}, which has"
        with pytest.raises(KernelFault, match=rf"(?s){place}.*{name}.*thread \("):
            findings(library, name, launch, short)
