"""Sums that stay in PRAM are judged by what is made of them in the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.compiler.torq.kernels.kernel import part, placed
from assay.compiler.torq.kernels.planes.convolution import ConvolutionKernel
from assay.compiler.torq.operators.products import Convolution
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.tensors import Layout, Region, TensorType
from assay.compiler.torq.slice.tensor import dense
from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.device.device import Device
from assay.hw.torq.words.commands import NssProgram, NssTask, SliceProgram, SliceTask
from assay.sim.check import Finding
from tests.hw.torq.device.test_device import put, start

RUN, X, Y, WEIGHTS, SCALES = 0x600, 0x2000, 0x3000, 0x4000, 0x5000
RUNNING = NssTask(slc_start=(True, False), slc_cfg_addr=(RUN, 0))
WAITING = NssTask(slc_wait=(True, False))


def _tasks(device: Device) -> tuple[SliceTask, ...]:
    """A convolution of two planes of five pixels each, one plane after the other, with constants
    that are in LRAM.
    """
    values = {"weights": np.full((4, 2, 1, 1), 9, np.int8), "bias": np.zeros(4, np.int32)}
    planes = TensorType(dtype="int8", shape=(1, 2, 1, 5), layout=Layout.PLANES)
    op = Convolution(
        x=planes,
        weights=TensorType(dtype="int8", shape=(4, 2, 1, 1)),
        y=replace(planes, shape=(1, 4, 1, 5)),
        rescale=Rescale(multipliers=(1 << 30,), shifts=(34,)),
    )
    whole = Region.whole(op.y.shape)
    held = placed("x", op.x, X)
    found: list[SliceTask] = []
    for channel in (0, 1):
        kernel = ConvolutionKernel(4).over_terms(op, whole, channel, 1)
        assert kernel is not None
        (need,) = kernel.input_regions(op, whole)
        places = {"x": part(held, op.x, need.region), "y": placed("y", op.y, Y)}
        packed = kernel.pack(op, whole, values)
        for spec, address in zip(kernel.constants(op, whole), (WEIGHTS, SCALES), strict=True):
            places[spec.name] = dense(spec.name, address, spec.dtype, spec.shape)
            device.lram.write(address, packed[spec.name].tobytes())
        found += kernel.emit(op, whole, places)
    return tuple(found)


def _findings(*pixels: int) -> tuple[Finding, ...]:
    """What is found if of the two planes only some pixels are written."""
    watcher = Watcher()
    device = Device(watcher=watcher)
    program = SliceProgram(tasks=_tasks(device), address=RUN)
    put(device, NssProgram(tasks=(RUNNING, WAITING)), program)
    for pixel in pixels:
        plane, column = divmod(pixel, 5)
        device.lram.write(X + 64 * plane + column, bytes([3]))
    start(device)
    device.wait_irq()
    return watcher.findings


def test_what_lies_behind_a_plane_may_be_summed_as_long_as_no_result_is_made_of_it() -> None:
    assert _findings(*range(10)) == ()


def test_an_unwritten_pixel_counts_although_its_sum_is_kept_at_first() -> None:
    (found,) = _findings(*(pixel for pixel in range(10) if pixel != 2))
    assert (found.kind, found.at.agent) == ("npu-uninitialised", "DEDR")
    assert "0x2002" in str(found)


def test_an_unwritten_pixel_that_is_added_to_what_was_kept_counts() -> None:
    (found,) = _findings(*range(9))
    assert (found.kind, found.at.agent) == ("npu-uninitialised", "DEDR")
