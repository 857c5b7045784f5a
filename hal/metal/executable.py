"""Executables on Metal: libraries compiled from MSL, pipeline states, argument encoders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..device import Executable, ExecutableCache
from ..msl import FORMAT as MSL
from ..status import StatusError
from .errors import error_text, metal_calls
from .format import FORMAT, ExecutableDefinition, LibraryDefinition, PipelineDefinition
from .format import read_executable as read_executable_definition
from .msl import MslExecutable

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary

_MEMBER_ID = re.compile(r"\[\[\s*id\((\d+)\)\s*\]\]")


class MetalPipeline:
    """One kernel ready to dispatch."""

    __slots__ = (
        "argument_encoder",
        "argument_length",
        "definition",
        "members",
        "state",
        "threads",
    )

    def __init__(
        self,
        api: Any,
        definition: PipelineDefinition,
        function: Any,
        state: Any,
        members: frozenset[int],
    ) -> None:
        self.definition = definition
        self.state = state
        self.threads = api.MTLSizeMake(*definition.threadgroup_size)
        self.members = members
        self.argument_encoder: Any = None
        self.argument_length = 0
        if self.members:
            self.argument_encoder = function.newArgumentEncoderWithBufferIndex_(0)
            length = int(self.argument_encoder.encodedLength())
            alignment = max(16, int(self.argument_encoder.alignment()))
            self.argument_length = -(-length // alignment) * alignment


class MetalExecutable(Executable):
    """The kernels of one executable; each is compiled when it is first looked at."""

    def __init__(self, api: Any, device: Any, definition: ExecutableDefinition) -> None:
        self._api = api
        self._device = device
        self._definition = definition
        self._ordinals = {
            name: ordinal
            for ordinal, pipeline in enumerate(definition.pipelines)
            for name in (pipeline.entry_point, pipeline.name)
        }
        self._libraries: dict[int, Any] = {}
        self._compiled: dict[int, KernelLibrary] = {}
        self._pipelines: dict[int, MetalPipeline] = {}

    def lookup(self, name: str) -> int:
        """The number of the kernel with this name."""
        ordinal = self._ordinals.get(name)
        if ordinal is None:
            choices = ", ".join(pipeline.name for pipeline in self._definition.pipelines)
            raise StatusError(
                "NOT_FOUND", f"executable function '{name}' not found; there are: {choices}"
            )
        return ordinal

    def pipeline(self, ordinal: int) -> MetalPipeline:
        """A kernel by number, compiled on first use."""
        known = self._pipelines.get(ordinal)
        if known is None:
            if not 0 <= ordinal < len(self._definition.pipelines):
                raise StatusError(
                    "OUT_OF_RANGE",
                    f"executable function {ordinal} out of range; "
                    f"executable has {len(self._definition.pipelines)} functions",
                )
            known = self._pipelines[ordinal] = self._compile(ordinal)
        return known

    def _compile(self, ordinal: int) -> MetalPipeline:
        definition = self._definition.pipelines[ordinal]
        library = self._library(definition)
        with metal_calls(f"to build kernel '{definition.entry_point}'"):
            function = library.newFunctionWithName_(definition.entry_point)
            if function is None:
                raise StatusError(
                    "NOT_FOUND", f"cannot find '{definition.entry_point}' in its MSL library"
                )
            state, error = self._new_state(function, definition)
            if state is None:
                raise StatusError(
                    "INVALID_ARGUMENT",
                    f"kernel '{definition.entry_point}' cannot become a pipeline: "
                    f"{error_text(error)}",
                )
            members = self._members(definition)
            return MetalPipeline(self._api, definition, function, state, members)

    def _members(self, definition: PipelineDefinition) -> frozenset[int]:
        """Ids of the members of a kernel's argument buffer: the bindings that it touches."""
        library = self._definition.libraries[definition.library]
        if library.source is not None:
            return frozenset(int(number) for number in _MEMBER_ID.findall(library.source))
        from assay.compiler.metallib import opened

        assert library.metallib is not None
        known = self._compiled.get(definition.library)
        if known is None:
            known = self._compiled[definition.library] = opened(library.metallib, definition.name)
        kernel = known.function(definition.entry_point)
        return frozenset(member.id for each in kernel.arguments for member in each.members)

    def _new_state(self, function: Any, definition: PipelineDefinition) -> tuple[Any, Any]:
        descriptor = self._api.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(function)
        # Since macOS 26. With the size known, machine code is made at once and not at first use.
        if hasattr(descriptor, "setRequiredThreadsPerThreadgroup_"):
            size = self._api.MTLSizeMake(*definition.threadgroup_size)
            descriptor.setRequiredThreadsPerThreadgroup_(size)
        make = self._device.newComputePipelineStateWithDescriptor_options_reflection_error_
        state, _, error = make(descriptor, 0, None, None)
        return state, error

    def _library(self, definition: PipelineDefinition) -> Any:
        library = self._libraries.get(definition.library)
        if library is None:
            library = self._new_library(self._definition.libraries[definition.library], definition)
            self._libraries[definition.library] = library
        return library

    def _new_library(self, library: LibraryDefinition, definition: PipelineDefinition) -> Any:
        if library.source is None:
            return self._opened(library, definition)
        options = _options(self._api, library)
        with metal_calls(f"to compile the MSL of '{definition.entry_point}'"):
            compiled, error = self._device.newLibraryWithSource_options_error_(
                library.source, options, None
            )
        if compiled is None:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"the MSL of '{definition.entry_point}' does not compile:\n{error_text(error)}",
            )
        return compiled

    def _opened(self, library: LibraryDefinition, definition: PipelineDefinition) -> Any:
        """A library that is there only as what Apple's compiler made of it."""
        with metal_calls(f"to open the library of '{definition.entry_point}'"):
            opened, error = self._device.newLibraryWithData_error_(library.metallib, None)
        if opened is None:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"the compiled library of '{definition.entry_point}' does not open: "
                f"{error_text(error)}",
            )
        return opened


def _options(api: Any, library: LibraryDefinition) -> Any:
    """How the source of a library is compiled."""
    options = api.MTLCompileOptions.alloc().init()
    version = library.language_version or 0x30000
    options.setLanguageVersion_(version if version >= 0x10000 else 0x30000)
    return options


class MetalExecutableCache(ExecutableCache):
    """Prepares IREE's executables and kernels of MSL; the Metal below caches compiled code."""

    def __init__(self, api: Any, device: Any) -> None:
        self._api = api
        self._device = device

    def can_prepare(self, executable_format: str) -> bool:
        """Whether this is an executable format of Metal's."""
        return executable_format in (FORMAT, MSL)

    def prepare(
        self, executable_format: str, data: memoryview, constants: Sequence[int]
    ) -> MetalExecutable | MslExecutable:
        """Read the executable; its kernels are compiled when first recorded, or ahead of that."""
        if executable_format == MSL:
            return MslExecutable(self._api, self._device, data)
        if executable_format != FORMAT:
            raise StatusError(
                "NOT_FOUND",
                f"executable format '{executable_format}' is not for this device, which takes "
                f"'{FORMAT}'; compile the model with --iree-hal-target-device=metal",
            )
        definition = read_executable_definition(data)
        for pipeline in definition.pipelines:
            library = definition.libraries[pipeline.library]
            if library.source is None and library.metallib is None:
                raise StatusError(
                    "INVALID_ARGUMENT",
                    f"kernel '{pipeline.name}' has neither MSL source nor a compiled library",
                )
        self._expect(definition)
        return MetalExecutable(self._api, self._device, definition)

    def _expect(self, definition: ExecutableDefinition) -> None:
        """Tell an emulated device of the kernels, which are recorded in about this order."""
        expect_kernel = getattr(self._device, "expect_kernel", None)
        if expect_kernel is None:
            return
        for pipeline in definition.pipelines:
            library = definition.libraries[pipeline.library]
            if library.source is not None:
                options = _options(self._api, library)
                size = pipeline.threadgroup_size
                expect_kernel(library.source, options, pipeline.entry_point, size)
