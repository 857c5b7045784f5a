"""The seam to what compiles and runs kernels; tests put fakes here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary, Library
    from assay.sim.check import Checker
    from assay.sim.simt import Executable, Memory, Request
    from assay.sim.simt.run.accesses import AccessLog


class CompileSource(Protocol):
    """MSL source to a library of kernels; raises CompileError."""

    def __call__(
        self,
        source: str,
        *,
        macros: Mapping[str, str],
        fast_math: bool,
        language_version: tuple[int, int],
    ) -> "Library":
        """Compile `source`."""


class ExpectKernel(Protocol):
    """Takes notice of a kernel of MSL source that will be asked for, to compile it ahead."""

    def __call__(
        self,
        source: str,
        *,
        kernel: str,
        size: tuple[int, int, int],
        macros: Mapping[str, str],
        fast_math: bool,
        language_version: tuple[int, int],
    ) -> None:
        """Expect `kernel` in threadgroups of `size`."""


def _open_metallib(data: bytes, name: str) -> "KernelLibrary":
    from assay.compiler.metallib import opened

    return opened(data, name)


class Dispatch(Protocol):
    """Runs one grid; raises KernelFault."""

    def __call__(
        self,
        executable: "Executable",
        memory: "Memory",
        arguments: Sequence[int],
        *,
        threads: tuple[int, int, int] | None,
        threadgroups: tuple[int, int, int] | None,
        workers: int | None,
        fuel: int | None,
        checker: "Checker | None" = None,
        accesses: "AccessLog | None" = None,
    ) -> None:
        """Run `threads` (dispatchThreads) or `threadgroups` (dispatchThreadgroups).

        `checker` is None but while a program is checked, and so is `accesses`, which takes what
        the grid touched.
        """


class DispatchTogether(Protocol):
    """Runs several grids, as if one after another; raises KernelFault."""

    def __call__(
        self, requests: "Sequence[Request]", *, workers: int | None, fuel: int | None
    ) -> None:
        """Run them; what they reach through addresses in memory they reach in any order."""


def explains(error: Exception) -> bool:
    """Whether the text of `error` is meant for the author of a kernel."""
    from assay.compiler.msl import CompileError
    from assay.sim.simt import DispatchError, KernelFault, UnsupportedKernel

    return isinstance(error, CompileError | DispatchError | KernelFault | UnsupportedKernel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What the emulated device runs on.

    `dispatch_together` is None for one that runs grids one after another.
    """

    compile_source: CompileSource
    make_memory: Callable[[], "Memory"]
    dispatch: Dispatch
    open_library: Callable[[bytes, str], "KernelLibrary"] = _open_metallib
    explains: Callable[[Exception], bool] = explains
    expect: ExpectKernel | None = None
    dispatch_together: DispatchTogether | None = None


def default_engine() -> Engine:
    """Our own MSL compiler and lane-vector engine; the compiler is loaded when first used."""
    from assay.sim.simt import Memory, dispatch, dispatch_together

    return Engine(
        compile_source=_compile_msl,
        make_memory=Memory,
        dispatch=dispatch,
        expect=_expect_msl,
        dispatch_together=dispatch_together,
    )


def _expect_msl(
    source: str,
    *,
    kernel: str,
    size: tuple[int, int, int],
    macros: Mapping[str, str],
    fast_math: bool,
    language_version: tuple[int, int],
) -> None:
    from assay.compiler.msl.ahead import AHEAD, Expected

    AHEAD.expect(
        Expected(
            source=source,
            macros=tuple(macros.items()),
            fast_math=fast_math,
            language_version=language_version,
            kernel=kernel,
            threadgroup_size=size,
        )
    )


def _compile_msl(
    source: str,
    *,
    macros: Mapping[str, str],
    fast_math: bool,
    language_version: tuple[int, int],
) -> "Library":
    from assay.compiler.msl import CompileOptions, compile_library
    from assay.compiler.msl.ahead import AHEAD

    options = CompileOptions(
        macros=macros,
        include_paths=(),
        fast_math=fast_math,
        language_version=language_version,
    )
    AHEAD.needed((source, tuple(macros.items()), fast_math, language_version))
    return compile_library(source, options=options)
