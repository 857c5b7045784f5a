"""Damaged modules end in a clear error; the full hunt is `python -m tests.fuzz.modules`."""

import struct

import pytest

from assay.hal.vm import Session, VmError
from tests.fuzz import modules as fuzz

from .doubles import compiled, recording_device
from .fuzz_sources import sources
from .test_programs import MLP


@pytest.mark.sampled(2)
@pytest.mark.parametrize("block", range(8))
def test_damaged_modules_end_in_results_or_clear_errors(block: int) -> None:
    originals = sources()
    for seed in range(12 * block, 12 * (block + 1)):
        name = sorted(originals)[seed % len(originals)]
        fuzz.run(fuzz.mutate(originals[name], seed))


@pytest.mark.slow
def test_thousands_of_damaged_modules_end_in_results_or_clear_errors() -> None:
    originals = sources()
    for seed in range(10_000, 14_000):
        name = sorted(originals)[seed % len(originals)]
        fuzz.run(fuzz.mutate(originals[name], seed))


def refusal(data: bytes) -> VmError:
    with pytest.raises(VmError) as error:
        Session(recording_device()[0]).load(data)
    return error.value


def test_a_file_that_is_no_module_is_refused_saying_what_is_expected() -> None:
    assert "expected a .vmfb written by iree-compile" in str(refusal(b"not a module at all" * 9))
    assert refusal(b"").status == "INVALID_ARGUMENT"


def test_a_truncated_module_is_refused_with_the_sizes() -> None:
    data = compiled(MLP)
    assert "truncated module: its FlatBuffer needs" in str(refusal(data[: len(data) // 2]))


def test_an_unknown_bytecode_version_is_refused_with_the_way_round() -> None:
    data = bytearray(compiled(MLP))
    start = bytes(data).index(b"IREE") - 4
    place = field(data, start + struct.unpack_from("<I", data, start)[0], 13)
    assert struct.unpack_from("<I", data, place)[0] >> 16 == 17
    struct.pack_into("<I", data, place, 15 << 16)
    error = refusal(bytes(data))
    assert error.status == "INCOMPATIBLE"
    assert "bytecode version 15.0 cannot be run" in error.message
    assert "iree-base-compiler==3.13.0" in error.message


def test_a_module_for_another_device_is_refused_with_the_reason() -> None:
    data = compiled(
        MLP,
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    )
    error = refusal(data)
    assert "HAL device" in str(error) and error.status in ("NOT_FOUND", "INCOMPATIBLE")


def test_an_inline_module_is_refused_with_the_way_round() -> None:
    data = compiled(
        MLP,
        "--iree-execution-model=inline-dynamic",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    )
    assert "compile without --iree-execution-model=inline" in str(refusal(data))


def test_a_kernel_without_source_and_library_is_refused_by_name() -> None:
    data = bytearray(compiled(MLP))
    # A library's source table goes away when its field's entry in the vtable is zero.
    error = refusal(without_sources(data))
    assert error.status == "INVALID_ARGUMENT"
    assert "has neither MSL source nor a compiled library" in error.message


def without_sources(data: bytearray) -> bytes:
    for magic in range(len(data) - 8):
        if data[magic : magic + 4] != b"MTL1" or data[magic + 68 : magic + 72] != b"MTL1":
            continue
        base = magic + 64
        root = base + struct.unpack_from("<I", data, base)[0]
        libraries = field(data, root, 1)
        first = libraries + struct.unpack_from("<I", data, libraries)[0]
        table = first + 4 + struct.unpack_from("<I", data, first + 4)[0]
        vtable = table - struct.unpack_from("<i", data, table)[0]
        struct.pack_into("<H", data, vtable + 4, 0)
    return bytes(data)


def field(data: bytearray, table: int, slot: int) -> int:
    vtable = table - struct.unpack_from("<i", data, table)[0]
    return table + struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0]
