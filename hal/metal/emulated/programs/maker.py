"""How a device makes programs: libraries from MSL source, pipeline states, argument encoders."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from ....observe import current_watch
from ..constants import MTLLibraryErrorFileNotFound, MTLLibraryErrorUnsupported
from ..descriptors import MTLComputePipelineDescriptor
from ..engine import Engine
from ..errors import MetalValidationError, NSError, compile_error, library_error
from ..objects import MetalObject, call_of, expect
from ..worker import SerialThread, run_handler
from .archive import MTLBinaryArchive, MTLBinaryArchiveDescriptor, new_binary_archive
from .argument import MTLArgumentDescriptor, MTLArgumentEncoder, encoder_of, members_described
from .compile_options import MTLCompileOptions
from .files import default_library, path_of
from .library import MTLFunction, MTLLibrary
from .linked_functions import MTLLinkedFunctions
from .pipeline import MTLComputePipelineState
from .reflection import MTLBinding, MTLComputePipelineReflection

if TYPE_CHECKING:
    from ..device import MTLDevice

_log = logging.getLogger(__name__)
LibraryResult = tuple[MTLLibrary | None, NSError | None]
PipelineResult = tuple[
    MTLComputePipelineState | None, MTLComputePipelineReflection | None, NSError | None
]


class ProgramMaker(MetalObject):
    """The part of MTLDevice that compiles."""

    engine: Engine
    compiler: SerialThread

    def _as_device(self) -> "MTLDevice":
        return cast("MTLDevice", self)

    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions | None, _error: None
    ) -> tuple[MTLLibrary | None, NSError | None]:
        """The kernels of MSL `source`, or the compiler's complaints."""
        where = call_of(self)
        expect(where, "the source", source, str)
        chosen = options if options is not None else MTLCompileOptions()
        expect(where, "the options", chosen, MTLCompileOptions)
        try:
            library = chosen.compile_source(self.engine.compile_source, source)
        except Exception as error:
            return None, compile_error(error, self.engine)
        return MTLLibrary(self._as_device(), library), None

    def expect_kernel(
        self, source: str, options: MTLCompileOptions, kernel: str, size: tuple[int, int, int]
    ) -> None:
        """Compile a kernel that will be asked for ahead, for its size of threadgroups.

        A checked program runs other code, and is as fast without.
        """
        expect_it = self.engine.expect
        is_watched = current_watch() is not None
        if expect_it is not None and not is_watched and self._as_device().options.workers != 1:
            options.compile_source(partial(expect_it, kernel=kernel, size=size), source)

    def newLibraryWithSource_options_completionHandler_(
        self,
        source: str,
        options: MTLCompileOptions | None,
        handler: Callable[[MTLLibrary | None, NSError | None], None],
    ) -> None:
        """The same in the background; handler(library, error) is called at the end."""

        def compile_and_tell() -> None:
            run_handler(handler, *self.newLibraryWithSource_options_error_(source, options, None))

        self.compiler.submit(compile_and_tell)

    def newDefaultLibrary(self) -> MTLLibrary | None:
        """The kernels of `default.metallib` beside the program; None if there is none."""
        path = default_library()
        if not path.is_file():
            return None
        library, error = self.newLibraryWithURL_error_(path, None)
        if error is not None:  # Metal has no way to say it
            _log.warning("MTLDevice.newDefaultLibrary: %s", error.localizedDescription())
        return library

    def newLibraryWithURL_error_(self, url: object, _error: None) -> LibraryResult:
        """The kernels of a `.metallib` file, or what is wrong with it."""
        path = path_of(url)
        try:
            data = path.read_bytes()
        except OSError as error:
            said = f"{path}: cannot be read: {error.strerror or error}"
            return None, library_error(MTLLibraryErrorFileNotFound, said)
        return self._compiled(data, str(path))

    def newLibraryWithFile_error_(self, path: str, _error: None) -> LibraryResult:
        """The kernels of a `.metallib` file, or what is wrong with it."""
        return self.newLibraryWithURL_error_(expect(call_of(self), "the path", path, str), None)

    def newLibraryWithData_error_(self, data: object, _error: None) -> LibraryResult:
        """The kernels of a `.metallib` file's bytes, or what is wrong with them."""
        where = call_of(self)
        try:
            raw = bytes(memoryview(data))  # type: ignore[arg-type]
        except TypeError:
            raise MetalValidationError(
                f"{where}: the data must be bytes, not {type(data).__name__}"
            ) from None
        return self._compiled(raw, "the data")

    def _compiled(self, data: bytes, name: str) -> LibraryResult:
        try:
            library = self.engine.open_library(data, name)
        except Exception as error:
            return None, compile_error(error, self.engine)
        return MTLLibrary(self._as_device(), library), None

    def newDynamicLibrary_error_(self, library: MTLLibrary, _error: None) -> tuple[None, NSError]:
        """Always an error: dynamic libraries are not emulated."""
        return None, _no_dynamic_libraries()

    def newDynamicLibraryWithURL_error_(self, url: object, _error: None) -> tuple[None, NSError]:
        """Always an error: dynamic libraries are not emulated."""
        return None, _no_dynamic_libraries()

    def supportsDynamicLibraries(self) -> bool:
        """Always False."""
        return False

    def newBinaryArchiveWithDescriptor_error_(
        self, descriptor: MTLBinaryArchiveDescriptor, _error: None
    ) -> tuple[MTLBinaryArchive | None, NSError | None]:
        """An archive that keeps nothing: compiled code is cached in any case."""
        return new_binary_archive(self._as_device(), descriptor)

    def newComputePipelineStateWithFunction_error_(
        self, function: MTLFunction, _error: None
    ) -> tuple[MTLComputePipelineState | None, NSError | None]:
        """The kernel, ready to run."""
        where = call_of(self)
        state, _, error = self._pipeline(where, _descriptor_of(function), 0)
        return state, error

    def newComputePipelineStateWithFunction_options_reflection_error_(
        self, function: MTLFunction, options: int, _reflection: None, _error: None
    ) -> PipelineResult:
        """The kernel, ready to run, and what it takes."""
        where = call_of(self)
        return self._pipeline(where, _descriptor_of(function), options)

    def newComputePipelineStateWithDescriptor_options_reflection_error_(
        self,
        descriptor: MTLComputePipelineDescriptor,
        options: int,
        _reflection: None,
        _error: None,
    ) -> PipelineResult:
        """The descriptor's kernel, ready to run, and what it takes."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLComputePipelineDescriptor)
        return self._pipeline(where, descriptor, options)

    def newComputePipelineStateWithFunction_completionHandler_(
        self,
        function: MTLFunction,
        handler: Callable[[MTLComputePipelineState | None, NSError | None], None],
    ) -> None:
        """The kernel, made in the background; handler(state, error) is called at the end."""

        def make_and_tell() -> None:
            run_handler(handler, *self.newComputePipelineStateWithFunction_error_(function, None))

        self.compiler.submit(make_and_tell)

    def newComputePipelineStateWithDescriptor_options_completionHandler_(
        self,
        descriptor: MTLComputePipelineDescriptor,
        options: int,
        handler: Callable[
            [MTLComputePipelineState | None, MTLComputePipelineReflection | None, NSError | None],
            None,
        ],
    ) -> None:
        """The same in the background; handler(state, reflection, error) is called at the end."""
        make = self.newComputePipelineStateWithDescriptor_options_reflection_error_

        def make_and_tell() -> None:
            run_handler(handler, *make(descriptor, options, None, None))

        self.compiler.submit(make_and_tell)

    def newArgumentEncoderWithArguments_(
        self, descriptors: Sequence[MTLArgumentDescriptor]
    ) -> MTLArgumentEncoder:
        """An encoder for an argument buffer of the described members."""
        where = call_of(self)
        members, length = members_described(where, descriptors)
        return MTLArgumentEncoder(self._as_device(), members, length)

    def newArgumentEncoderWithBufferBinding_(self, binding: MTLBinding) -> MTLArgumentEncoder:
        """An encoder for the argument buffer that a kernel takes, found by reflection."""
        where = call_of(self)
        argument = expect(where, "the binding", binding, MTLBinding).argument
        return encoder_of(where, self._as_device(), argument)

    def _pipeline(
        self, where: str, descriptor: MTLComputePipelineDescriptor, options: int
    ) -> PipelineResult:
        function = expect(where, "the function", descriptor.computeFunction(), MTLFunction)
        linked = descriptor.linkedFunctions()
        if linked is not None:
            expect(where, "the linked functions", linked, MTLLinkedFunctions)
        try:
            state = MTLComputePipelineState(
                self._as_device(),
                function,
                label=descriptor.label(),
                most_threads=descriptor.maxTotalThreadsPerThreadgroup(),
                required_size=descriptor.requiredThreadsPerThreadgroup(),
                linked=linked.functions() if linked is not None else (),
                in_indirect=descriptor.supportIndirectCommandBuffers(),
                whole_simdgroups=descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth(),
            )
        except Exception as error:
            return None, None, compile_error(error, self.engine)
        reflection = MTLComputePipelineReflection(state) if options else None
        return state, reflection, None


def _descriptor_of(function: MTLFunction) -> MTLComputePipelineDescriptor:
    descriptor = MTLComputePipelineDescriptor.new()
    descriptor.setComputeFunction_(function)
    return descriptor


def _no_dynamic_libraries() -> NSError:
    return library_error(
        MTLLibraryErrorUnsupported,
        "dynamic libraries are not emulated; put their functions into the source that uses them",
    )
