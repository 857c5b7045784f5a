"""Small kernels for tests of the engines, from C++ by the engines' conventions or from LLVM IR."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import ziglang

from assay.sim.native.llvm_host import start_llvm
from assay.sim.simt import Executable, Memory, Program, dispatch
from assay.sim.simt.ir.context import FIRST_BUFFER_HANDLE, HANDLE_SHIFT
from assay.sim.simt.ir.nodes import Function
from assay.sim.simt.oracle.engine import run_reference
from assay.sim.simt.read.importer import import_kernel
from assay.sim.simt.read.roots import Parameter

Size = tuple[int, int, int]
ENTRY = "kernel_entry"
_FLAGS = (
    "--target=x86_64-unknown-linux-gnu",
    "-march=x86-64-v3",
    "-x",
    "c++",
    "-std=c++23",
    "-O2",
    "-fno-builtin",
    "-fno-exceptions",
    "-nostdinc",
    "-ffp-contract=fast",
    "-gline-tables-only",
    "-Xclang",
    "-fsycl-is-device",
    "-Xclang",
    "-ffake-address-space-map",
    "-Xclang",
    "-aux-triple",
    "-Xclang",
    "x86_64-unknown-linux-gnu",
    "-Xclang",
    "-ffloat16-excess-precision=none",
    "-Xclang",
    "-fbfloat16-excess-precision=none",
    "-Xclang",
    "-cl-single-precision-constant",
    "-Xclang",
    "-disable-llvm-passes",
    "-emit-llvm",
    "-c",
    "-o",
    "-",
    "-",
)
_TYPES = {
    "i16": "unsigned short",
    "i32": "int",
    "u32": "unsigned",
    "i64": "long",
    "u64": "unsigned long",
    "f32": "float",
}


def _declarations() -> str:
    lines = [
        *(
            f'extern "C" __attribute__((const)) unsigned __assay_{name}(int);'
            for name in (
                "thread_position_in_grid",
                "thread_position_in_threadgroup",
                "threads_per_grid",
                "threadgroup_position_in_grid",
                "threads_per_threadgroup",
                "dispatch_threads_per_threadgroup",
                "threadgroups_per_grid",
            )
        ),
        *(
            f'extern "C" __attribute__((const)) unsigned __assay_{name}();'
            for name in (
                "thread_index_in_threadgroup",
                "thread_index_in_simdgroup",
                "simdgroup_index_in_threadgroup",
                "simdgroups_per_threadgroup",
                "dispatch_simdgroups_per_threadgroup",
                "matrix_row",
                "matrix_column",
            )
        ),
    ]

    def across(result: str, name: str, *operands: str) -> None:
        lines.append(
            'extern "C" __attribute__((convergent, nothrow)) '
            f"{result} __assay_{name}({', '.join(operands)});"
        )

    across("void", "threadgroup_barrier", "int")
    across("void", "simdgroup_barrier", "int")
    across("unsigned long", "simd_ballot", "int")
    across("unsigned long", "simd_active_mask")
    across("float", "mma_f32", "int", *["float"] * 6)
    for kind in ("i16", "i32", "i64"):
        across(_TYPES[kind], f"simd_shuffle_{kind}", _TYPES[kind], "unsigned")
        across(_TYPES[kind], f"simd_broadcast_first_{kind}", _TYPES[kind])
    for kind in ("f32", "i32", "u32", "i64", "u64"):
        for op in ("sum", "product", "min", "max"):
            across(_TYPES[kind], f"simd_{op}_{kind}", _TYPES[kind], "int")
    for kind in ("u32", "u64"):
        for op in ("and", "or", "xor"):
            across(_TYPES[kind], f"simd_{op}_{kind}", _TYPES[kind], "int")
    for kind in ("f32", "i32", "i64"):
        for way in ("inclusive", "exclusive"):
            for op in ("sum", "product"):
                across(_TYPES[kind], f"simd_prefix_{way}_{op}_{kind}", _TYPES[kind], "int")
    for kind in ("i32", "u32", "i64", "u64", "f32"):
        type_ = _TYPES[kind]
        start = 'extern "C" __attribute__((nothrow))'
        lines.extend(
            f"{start} {type_} __assay_atomic_{op}_{kind}({type_}*, {type_});"
            for op in ("add", "sub", "min", "max", "and", "or", "xor", "xchg")
        )
        lines.append(f"{start} {type_} __assay_atomic_load_{kind}({type_}*);")
        lines.append(f"{start} void __assay_atomic_store_{kind}({type_}*, {type_});")
        lines.append(f"{start} {type_} __assay_atomic_cmpxchg_{kind}({type_}*, {type_}, {type_});")
    return "\n".join(lines)


_PRELUDE = (
    _declarations()
    + """
#define DEVICE __attribute__((opencl_global))
#define CONSTANT __attribute__((opencl_global_host))
#define THREADGROUP __attribute__((opencl_local))
#define KERNEL extern "C" [[clang::sycl_external]] void kernel_entry
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef __bf16 bfloat;
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));
static inline uint thread_x() { return __assay_thread_position_in_grid(0); }
static inline uint lane() { return __assay_thread_index_in_simdgroup(); }
static inline void barrier() { __assay_threadgroup_barrier(3); }
#line 1 "kernel.metal"
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A compiled kernel and what its parameters are."""

    bitcode: bytes
    parameters: tuple[Parameter, ...]

    def function(self) -> Function:
        """The kernel in the engines' IR."""
        return import_kernel(self.bitcode, ENTRY, self.parameters, "test_kernel")


def _parameters(names: str) -> tuple[Parameter, ...]:
    """`"a b scratch:threadgroup"` as parameters."""
    found = []
    for number, word in enumerate(names.split()):
        name, _, kind = word.partition(":")
        found.append(Parameter(name=name, kind="threadgroup" if kind else "buffer", index=number))
    return tuple(found)


@functools.cache
def compile_cpp(source: str, names: str) -> Kernel:
    """Compile C++ with a `KERNEL(...)`; line numbers count from the source's first line."""
    zig = Path(ziglang.__file__).parent / "zig"
    done = subprocess.run(
        [str(zig), "clang", *_FLAGS], input=(_PRELUDE + source).encode(), capture_output=True
    )
    if done.returncode:
        raise AssertionError(done.stderr.decode())
    return Kernel(bitcode=done.stdout, parameters=_parameters(names))


@functools.cache
def assemble(text: str, names: str) -> Kernel:
    """Assemble LLVM IR that defines `@kernel_entry`."""
    start_llvm()
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return Kernel(bitcode=module.as_bitcode(), parameters=_parameters(names))


def on_reference(
    kernel: Kernel,
    arguments: Sequence[np.ndarray | int],
    *,
    threadgroup_size: Size = (32, 1, 1),
    threads: Size | None = None,
    threadgroups: Size | None = None,
    fuel: int = 2_000_000,
    lock_step: bool = False,
) -> list[np.ndarray]:
    """Run on copies of the arrays and return them; an int is a threadgroup parameter's bytes.

    In lock step, lanes that write to one place leave what they leave on the engine.
    """
    results = [a.copy() for a in arguments if isinstance(a, np.ndarray)]
    buffers: dict[int, tuple[np.ndarray, str]] = {}
    values = []
    for parameter, argument in zip(kernel.parameters, arguments, strict=True):
        if isinstance(argument, int):
            values.append(argument)
            continue
        handle = FIRST_BUFFER_HANDLE + len(buffers)  # as a fresh `Memory` deals them
        buffers[handle] = (_bytes(results[len(buffers)]), parameter.name)
        values.append(handle << HANDLE_SHIFT)
    run_reference(
        kernel.function(),
        kernel.parameters,
        values,
        buffers,
        threadgroup_size=threadgroup_size,
        threads=threads if threads or threadgroups else threadgroup_size,
        threadgroups=threadgroups,
        fuel=fuel,
        lock_step=lock_step,
    )
    return results


@functools.lru_cache(maxsize=4)
def _executable(kernel: Kernel, threadgroup_size: Size, quick: bool) -> Executable:
    program = Program(kernel.bitcode, ENTRY, name="test_kernel", parameters=kernel.parameters)
    return program.specialise(threadgroup_size, quick=quick)


def on_engine(
    kernel: Kernel,
    arguments: Sequence[np.ndarray | int],
    *,
    threadgroup_size: Size = (32, 1, 1),
    threads: Size | None = None,
    threadgroups: Size | None = None,
    fuel: int = 200_000_000,
    workers: int | None = None,
    quick: bool = False,
) -> list[np.ndarray]:
    """As `on_reference`, on the lane-vector engine; `quick` code is made sooner and runs longer."""
    memory = Memory()
    results = [a.copy() for a in arguments if isinstance(a, np.ndarray)]
    fresh = iter(results)
    values = [
        argument
        if isinstance(argument, int)
        else memory.register(_bytes(next(fresh)), name=parameter.name)
        for parameter, argument in zip(kernel.parameters, arguments, strict=True)
    ]
    dispatch(
        _executable(kernel, threadgroup_size, quick),
        memory,
        values,
        threads=threads if threads or threadgroups else threadgroup_size,
        threadgroups=threadgroups,
        workers=workers,
        fuel=fuel,
    )
    return results


def _bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


Runner = Callable[..., list[np.ndarray]]
ENGINES: dict[str, Runner] = {"reference": on_reference, "engine": on_engine}
