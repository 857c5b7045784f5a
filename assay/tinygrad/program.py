"""A kernel as tinygrad calls it."""

from math import prod
from typing import TYPE_CHECKING

from tinygrad.device import Program, TinyELF
from tinygrad.dtype import DType

from assay.hal.metal import emulated as metal
from assay.hal.metal.emulated.commands.timing import code_for

from .buffer import AssayBuffer
from .renderer import FAST_MATH

if TYPE_CHECKING:
    from .device import AssayDevice

Size = tuple[int, int, int]


class AssayProgram(Program["AssayDevice"]):
    """One kernel, ready to run."""

    def __init__(self, dev: "AssayDevice", obj: TinyELF) -> None:
        self._device = dev
        self.name = obj.name
        self._profile_key = obj.profile_key
        self._signature = obj.signature
        self._pipeline = _pipeline(dev.metal, obj.lib.decode(), obj.name)

    def __call__(
        self,
        *bufs: AssayBuffer,
        global_size: Size = (1, 1, 1),
        local_size: Size = (1, 1, 1),
        vals: tuple[int, ...] = (),
        wait: bool = False,
        **_options: object,
    ) -> float | None:
        """Run `global_size` threadgroups of `local_size` threads; with `wait`, the seconds it took.

        Raises RuntimeError, with which tinygrad's searches count, for threadgroups that are too
        large and, when waiting, for kernels that fail.
        """
        pipeline = self._pipeline
        most = pipeline.maxTotalThreadsPerThreadgroup()
        if prod(local_size) > most:
            raise RuntimeError(
                f"kernel {self.name!r}: threadgroups of {local_size} are {prod(local_size)} "
                f"threads; {most} are possible"
            )
        if wait:
            # Or the time would count the making of machine code, which hardware is given ready.
            code_for(pipeline, local_size)
        commands = self._device.queue.commandBuffer()
        commands.setLabel_(self.name)
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        for index, buffer in enumerate(bufs):
            encoder.setBuffer_offset_atIndex_(buffer.buffer, buffer.offset, index)
        for value, (_, index, dtype, _) in zip(vals, self._signature[len(bufs) :], strict=False):
            encoder.setBytes_length_atIndex_(_encoded(value, dtype), dtype.itemsize, index)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(global_size, local_size)
        encoder.endEncoding()
        commands.commit()
        self._device.submitted(commands, self._profile_key)
        if not wait:
            return None
        self._device.synchronize()
        return commands.GPUEndTime() - commands.GPUStartTime()


def _pipeline(device: metal.MTLDevice, source: str, name: str) -> metal.MTLComputePipelineState:
    """The kernel `name` of MSL `source`. Raises RuntimeError with what Metal says against it."""
    options = metal.MTLCompileOptions.new()
    options.setFastMathEnabled_(FAST_MATH)
    library, error = device.newLibraryWithSource_options_error_(source, options, None)
    if library is None:
        raise _failure(error)
    function = library.newFunctionWithName_(name)
    if function is None:
        raise RuntimeError(f"the source has no kernel {name!r}, but {library.functionNames()}")
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if pipeline is None:
        raise _failure(error)
    return pipeline


def _failure(error: metal.NSError | None) -> RuntimeError:
    return RuntimeError("" if error is None else error.localizedDescription())


def _encoded(value: int, dtype: DType) -> bytes:
    return (value & (1 << dtype.bitsize) - 1).to_bytes(dtype.itemsize, "little")
