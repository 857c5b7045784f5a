"""Damaged modules: flip, cut and splice real `.vmfb` files, load them, call everything.

    python -m tests.fuzz.modules --cases 20000 --seed 7

Every case must end in results or in a VmError, soon, with little memory. Kernels do nothing
unless `--kernels` is given: compiling and running them takes most of the time.
"""

import argparse
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from assay.hal.device import DeviceInfo
from assay.hal.metal import emulated
from assay.hal.metal.device import MetalDevice
from assay.hal.metal.emulated.device import DeviceOptions, MTLDevice
from assay.hal.vm import Limits, LoadedModule, Session, VmError
from tests.hal.vm.doubles import recording_device
from tests.hal.vm.fuzz_sources import sources

SECONDS = 20
"""The longest a case may take."""


class TooSlow(BaseException):
    """A case took longer than allowed; not an Exception, so that nothing swallows it."""


def flip_bits(data: bytearray, random: np.random.Generator) -> None:
    for _ in range(int(random.integers(1, 9))):
        place = _place(data, random)
        data[place] ^= 1 << int(random.integers(8))


def set_bytes(data: bytearray, random: np.random.Generator) -> None:
    for _ in range(int(random.integers(1, 5))):
        data[_place(data, random)] = int(random.choice([0, 1, 0x7F, 0x80, 0xFF]))


def set_word(data: bytearray, random: np.random.Generator) -> None:
    place = _place(data, random) & ~3
    word = int(random.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, len(data)]))
    data[place : place + 4] = word.to_bytes(4, "little")


def truncate(data: bytearray, random: np.random.Generator) -> None:
    del data[int(random.integers(len(data))) :]


def splice(data: bytearray, random: np.random.Generator) -> None:
    length = int(random.integers(1, 64))
    source, target = _place(data, random), _place(data, random)
    data[target : target + length] = data[source : source + length]


def zero_range(data: bytearray, random: np.random.Generator) -> None:
    place, length = _place(data, random), int(random.integers(1, 256))
    data[place : place + length] = bytes(min(length, len(data) - place))


MUTATIONS: tuple[Callable[[bytearray, np.random.Generator], None], ...] = (
    flip_bits,
    flip_bits,
    flip_bits,
    set_bytes,
    set_word,
    truncate,
    splice,
    zero_range,
)


def _place(data: bytearray, random: np.random.Generator) -> int:
    """Anywhere, with a liking for the end, where the tables and the bytecode lie."""
    if random.random() < 0.5:
        return int(random.integers(len(data)))
    return max(0, len(data) - 1 - int(random.integers(min(len(data), 6000))))


def mutate(data: bytes, seed: int) -> bytes:
    """The damaged module of a seed."""
    random = np.random.default_rng(seed)
    damaged = bytearray(data)
    MUTATIONS[int(random.integers(len(MUTATIONS)))](damaged, random)
    return bytes(damaged)


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Of the processor; of the clock twenty times as much, for what hangs on a busy machine."""
    computed, began = time.process_time(), time.monotonic()

    def look(_: int, frame: FrameType | None) -> None:
        is_over = time.process_time() - computed >= seconds
        if is_over or time.monotonic() - began >= 20 * seconds:
            raise TooSlow("".join(traceback.format_stack(frame)[-6:]))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def argument(text: str) -> Any:
    """Zeros for a declared argument type; dynamic dimensions are 3."""
    names = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8, "i64": np.int64}
    if not text.startswith("tensor<"):
        return 0.0 if text.startswith("f") else 0
    *shape, kind = text[7:-1].split("x")
    sizes = [3 if dimension == "?" else min(int(dimension), 64) for dimension in shape]
    return np.zeros(sizes, names.get(kind, np.float32))


def run(data: bytes, *, kernels: bool = False) -> str:
    """Load the module and call everything; "ok" or the first error's status."""
    limits = Limits(instructions=50_000, call_depth=200, buffer_bytes=64 << 20)
    session = Session(_device(kernels), limits=limits)
    outcome = "ok"
    with time_limit(SECONDS):
        try:
            module = session.load(data)
        except VmError as error:
            return check(error)
        for name in module.functions:
            outcome = call(module, name, outcome)
    return outcome


def _device(kernels: bool) -> MetalDevice:
    if not kernels:
        return recording_device(memory=256 << 20)[0]
    handle = MTLDevice(DeviceOptions(memory=256 << 20, fuel=1_000_000))
    return MetalDevice(emulated, handle, DeviceInfo(identifier="fuzz", name="fuzz"))


def call(module: LoadedModule, name: str, outcome: str) -> str:
    try:
        module.invoke(name, *map(argument, module.functions[name].arguments))
    except VmError as error:
        return check(error)
    except ValueError as error:
        if "invalid literal" in str(error):
            return "argument types are damaged"
        raise
    return outcome


def check(error: VmError) -> str:
    """An error must have words."""
    assert error.message.strip(), repr(error)
    return error.status


def main() -> int:
    """Run many cases and list the failures; the exit code says whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernels", action="store_true", help="compile and run the kernels")
    options = parser.parse_args()
    originals = sources()
    outcomes: Counter[str] = Counter()
    failures = 0
    start = time.perf_counter()
    for seed in range(options.seed, options.seed + options.cases):
        name = sorted(originals)[seed % len(originals)]
        try:
            outcomes[run(mutate(originals[name], seed), kernels=options.kernels)] += 1
        except (Exception, TooSlow):
            failures += 1
            print(f"--- {name} seed {seed}", flush=True)
            traceback.print_exc(limit=-4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    took = time.perf_counter() - start
    print(f"{options.cases} cases in {took:.0f} s, {failures} failures, peak memory {peak} MiB")
    print(dict(outcomes))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
