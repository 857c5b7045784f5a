from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.hal.status import StatusError
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.format import (
    Action,
    Alloc,
    BufferType,
    Executable,
    HostCopy,
    Segment,
    StartHost,
    WaitHost,
)
from assay.hal.torq.host_calls import HostCall
from assay.hw.torq.words.commands import NssProgram, NssTask
from tests.support.torq_executables import BLOCK, INPUTS, OUTPUT, image, multiply

Bytes = NDArray[np.uint8]


def operands(seed: int) -> tuple[Bytes, Bytes]:
    """(the bytes of a, b, bias and scale; the 64 results as bytes)."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-128, 128, (2, 64), dtype=np.int64)
    bias, scale = int(rng.integers(-999, 999)), int(rng.integers(1, 2000))
    shifted = ((a * b + bias) * scale + (1 << 15)) >> 16
    wanted = np.clip(shifted - 3, -128, 127).astype(np.int8)
    pair = np.array([bias, scale], np.int32).view(np.uint8)
    data = np.concatenate(
        [a.astype(np.int8).view(np.uint8), b.astype(np.int8).view(np.uint8), pair]
    )
    return data, wanted.view(np.uint8)


def run(executable: Executable, seed: int = 1) -> Bytes:
    buffers = [operands(seed)[0], np.zeros(64, np.uint8)]
    LoadedExecutable(executable).dispatch(buffers)
    return buffers[1]


def with_actions(*actions: Action) -> Executable:
    return replace(multiply(), actions=actions)


def test_an_executable_multiplies_again_and_again() -> None:
    loaded = LoadedExecutable(multiply())
    assert (loaded.inputs(), loaded.outputs()) == ((0,), (1,))
    assert loaded.buffer_sizes() == {0: 136, 1: 64}
    cycles = set()
    for seed in range(3):
        data, wanted = operands(seed)
        buffers = [data, np.zeros(64, np.uint8)]
        cycles.add(loaded.dispatch(buffers))
        assert np.array_equal(buffers[1], wanted)
    assert len(cycles) == 1
    assert cycles.pop() > 0


def test_a_strided_copy_of_the_host_moves_elements() -> None:
    # The second operand comes from every other one of 128 bytes that the host spreads out before.
    spread = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.XRAM,
        source_address=INPUTS + 63,
        target_address=INPUTS + 64,
        source_strides=(0,),
        target_strides=(1,),
        shape=(64,),
        element_bytes=1,
    )
    executable = replace(multiply(), actions=(spread, *multiply().actions))
    data, _ = operands(4)
    expected = data.copy()
    expected[64:128] = data[63]
    assert np.array_equal(run(executable, 4), _run_with(expected))


def _run_with(data: Bytes) -> Bytes:
    buffers = [data, np.zeros(64, np.uint8)]
    LoadedExecutable(multiply()).dispatch(buffers)
    return buffers[1]


@pytest.mark.parametrize("way", ["constant", "buffer"])
def test_a_copy_moves_by_an_index_of_the_dispatch(way: str) -> None:
    move = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.XRAM,
        source_address=INPUTS,
        target_address=OUTPUT,
        source_strides=(),
        target_strides=(),
        shape=(),
        element_bytes=4,
        constant_index=0 if way == "constant" else -1,
        binding_index=0 if way == "buffer" else -1,
        index_bytes=4,
    )
    buffers = [np.arange(136, dtype=np.uint8), np.zeros(64, np.uint8)]
    buffers[0][:4] = (3, 0, 0, 0)
    LoadedExecutable(with_actions(move)).dispatch(buffers, [3] if way == "constant" else [])
    assert buffers[1][:4].tolist() == [12, 13, 14, 15]


def test_host_code_runs_as_registered_python_functions() -> None:
    def fill(call: HostCall) -> None:
        assert call.read(0) == bytes(range(4))
        call.write(1, b"\x07" * call.sizes[1])

    call = StartHost(function="fill", arguments=(INPUTS, OUTPUT), sizes=(4, 64))
    executable = replace(with_actions(call, WaitHost()), host_code=b"ELF")
    buffers = [np.arange(136, dtype=np.uint8), np.zeros(64, np.uint8)]
    LoadedExecutable(executable, host_functions={"fill": fill}).dispatch(buffers)
    assert set(buffers[1].tolist()) == {7}
    with pytest.raises(StatusError, match="executable: host code: it is no ELF file"):
        LoadedExecutable(executable)


def test_a_fault_of_the_npu_names_the_action() -> None:
    waits = NssProgram(tasks=(NssTask(slc_wait=(True, False)),))
    block = Segment(address=BLOCK, size=640, data=image(waits, 0, 640))
    executable = replace(multiply(), segments=(multiply().segments[0], block))
    with pytest.raises(StatusError, match=r"executable: action 3: .*SLC0"):
        run(executable)


@pytest.mark.parametrize(
    ("buffers", "message"),
    [
        ([np.zeros(136, np.uint8)], "takes buffer 1, and 1 were given"),
        ([np.zeros(9, np.uint8), np.zeros(64, np.uint8)], "buffer 0 has 9 bytes; 136 are needed"),
    ],
)
def test_buffers_that_are_missing_or_too_small_are_refused(
    buffers: list[Bytes], message: str
) -> None:
    with pytest.raises(StatusError, match=message):
        LoadedExecutable(multiply()).dispatch(buffers)


def test_more_memory_than_is_emulated_is_refused() -> None:
    huge = Alloc(number=0, address=0x200000, size=1 << 30, buffer_type=BufferType.XRAM)
    with pytest.raises(StatusError, match=r"needs .* bytes of XRAM; 536,870,912 are"):
        LoadedExecutable(with_actions(huge))


def test_a_copy_that_would_never_end_is_refused() -> None:
    endless = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.XRAM,
        source_address=INPUTS,
        target_address=OUTPUT,
        source_strides=(0, 0),
        target_strides=(0, 0),
        shape=(1 << 31, 1 << 31),
        element_bytes=1,
    )
    with pytest.raises(StatusError, match="action 0: copies 4611686018427387904 bytes"):
        run(with_actions(endless))
