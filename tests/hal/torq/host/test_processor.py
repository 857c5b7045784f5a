"""Code for the board's own processor runs on an emulated one, and touches what it may."""

import random
import struct

import numpy as np
import pytest

from assay.hal.status import StatusError
from assay.hal.torq.host import processor
from assay.hal.torq.host.image import read_image
from assay.hal.torq.host.processor import IMAGE, IMPORTS, HostProcessor
from tests.support.host_code import compiled, importing

pytest.importorskip("unicorn")
XRAM = 0x100000
IN, OUT = XRAM, XRAM + 0x1000


@pytest.fixture(scope="module")
def host() -> HostProcessor:
    return HostProcessor(compiled(), "test", fuel=2_000_000)


@pytest.fixture
def memory() -> np.ndarray:
    return np.full(0x2000, 0x77, np.uint8)


def test_a_function_reads_and_writes_its_buffers(host: HostProcessor, memory: np.ndarray) -> None:
    numbers = np.arange(-32, 32, dtype=np.int8)
    memory[:64] = numbers.view(np.uint8)
    ran = host.call("scale", (IN, OUT), [(XRAM, memory)], marks=True)
    assert np.array_equal(memory[0x1000:0x1040].view(np.int8), 3 * numbers)
    assert ran.read == ((IN, IN + 64),)
    assert ran.written == ((OUT, OUT + 64),)
    assert 10 <= ran.instructions <= 1000
    assert host.call("scale", (IN, OUT), [(XRAM, memory)]).instructions == ran.instructions


def test_numbers_are_those_of_the_real_processor(host: HostProcessor, memory: np.ndarray) -> None:
    numbers = np.linspace(-1, 1, 16, dtype=np.float32)
    memory[:64] = numbers.view(np.uint8)
    host.call("floats", (IN, OUT), [(XRAM, memory)])
    expected = np.float32(1.5) * numbers + np.float32(0.25)
    assert np.allclose(memory[0x1000:0x1040].view(np.float32), expected, rtol=1e-6)


@pytest.mark.parametrize("start", [0, 1, 64])
def test_memset_is_there(host: HostProcessor, memory: np.ndarray, start: int) -> None:
    ran = host.call("clear", (IN + start,), [(XRAM, memory)], marks=True)
    assert ran.written == ((IN + start, IN + start + 150),)
    assert set(memory[start : start + 150]) == {7} and memory[start + 150] == 0x77


def test_variables_live_as_long_as_the_object_and_arguments_are_irees(
    memory: np.ndarray,
) -> None:
    host = HostProcessor(compiled(), "test")
    for calls in (1, 2):
        host.call("count", (IN, OUT), [(XRAM, memory)])
        assert memory[:16].view(np.uint32).tolist() == [calls, 20, 2, 2]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("wild", "writes 4 bytes at 0x10, which is not among the memory"),
        ("host_memory", "reads 4 bytes at 0x7f0000000000"),
        ("overwrites_itself", "writes 4 bytes at 0x10000"),
        ("runs_data", "jumps to 4 bytes at 0x100000"),
        ("too_deep", "writes .* bytes at 0x1fffff"),
        ("system_call", "ends with exception"),
        ("undefined", "ends with exception .* of its object"),
        ("sleeps", "runs into an instruction that this"),
        ("hypervisor", "of its object"),
        ("masks_memory", "of its object|at 0x"),
        ("endless", "did not end within 2,000,000 instructions"),
        ("nothing", "has no function 'nothing'; it has clear, count"),
    ],
)
def test_what_it_may_not_do_ends_it_with_the_place(
    host: HostProcessor, memory: np.ndarray, function: str, message: str
) -> None:
    with pytest.raises(StatusError, match=f"test: host .*{message}"):
        host.call(function, (IN, OUT), [(XRAM, memory)])
    host.call("scale", (IN, OUT), [(XRAM, memory)])  # and it runs the next


def test_objects_that_need_more_than_memset_or_another_processor_are_refused() -> None:
    with pytest.raises(StatusError, match="host code needs puts; there is only memset"):
        HostProcessor(importing(), "test")
    with pytest.raises(StatusError, match="no shared object for aarch64"):
        HostProcessor(compiled("int f(void) { return 1; }", "x86_64"), "test")
    with pytest.raises(StatusError, match="no ELF file"):
        HostProcessor(b"ELF", "test")


def test_without_unicorn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "unicorn", None)
    with pytest.raises(StatusError, match="install the extra `host`"):
        HostProcessor(compiled(), "test")


def test_functions_are_found_by_either_hash_table() -> None:
    code = compiled()
    image = read_image(code, IMAGE, IMPORTS, "test")
    assert {"scale", "wild", "endless"} <= image.functions.keys()
    tags = [struct.unpack_from("<QQ", code, place)[0] for place in dynamic_entries(code)]
    assert 4 in tags and 0x6FFFFEF5 in tags
    without = bytearray(code)
    for place, tag in zip(dynamic_entries(code), tags, strict=True):
        if tag == 4:
            struct.pack_into("<Q", without, place, 0x70000000)
    assert read_image(bytes(without), IMAGE, IMPORTS, "test").functions == image.functions


def dynamic_entries(code: bytes) -> list[int]:
    (at,) = struct.unpack_from("<Q", code, 32)
    (count,) = struct.unpack_from("<H", code, 56)
    for number in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", code, at + 56 * number)
        if kind == 2:
            return [*range(offset, offset + size, 16)]
    raise AssertionError("no dynamic section")


def test_hundreds_of_damaged_objects_are_read_or_refused() -> None:
    code, rng = compiled(), random.Random(3)
    refused = 0
    for _ in range(600):
        damaged = bytearray(code)
        for _ in range(rng.randint(1, 3)):
            at = rng.choice([rng.randrange(64), rng.randrange(0x2000), *dynamic_entries(code)])
            at += rng.randrange(16)
            damaged[at % len(damaged)] = rng.randrange(256)
        if rng.random() < 0.2:
            del damaged[rng.randrange(len(damaged)) :]
        try:
            read_image(bytes(damaged), IMAGE, IMPORTS, "test")
        except StatusError as error:
            refused += 1
            assert str(error)
    assert refused > 50


def test_a_call_burns_no_more_than_its_fuel() -> None:
    assert processor.FUEL <= 4_000_000_000
    host = HostProcessor(compiled(), "test", fuel=1000)
    memory = np.zeros(0x1000, np.uint8)
    with pytest.raises(StatusError, match="1,000 instructions"):
        host.call("endless", (), [(XRAM, memory)])
