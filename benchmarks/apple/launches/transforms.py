"""Fourier transforms whose length is a power of two, and the parts of longer ones."""

from __future__ import annotations

import re

from assay.launches.inputs import ConstantValue, Given, Setup

from .values import ints, random, tiles, zeros

_NAMES = re.compile(
    r"(?P<kind>fft|bluestein_fft|four_step)_mem_(?P<room>\d+)_(?P<of>float2?|complex32_t)"
    r"_(?P<to>float2?|complex32_t)(?:_(?P<step>[01])_(?P<real>true|false))?"
)
_RADICES = (13, 11, 8, 7, 6, 5, 4, 3, 2)
_INVERSE, _IS_POWER, _OF_THREAD, _RADER, _STEPS, _TABLE = 0, 1, 2, 3, 4, 22
_LEAST_ROOM = 256
_TOGETHER = 4  # transforms of a threadgroup, where their elements are apart in memory
_TWIDDLES = 584
_OTHER = 8  # the other factor of a transform in four steps
_OUTER = 2
_LARGEST = 1 << 17  # elements, more than any of these transforms takes


def transform(kernel: str) -> Setup | None:
    """The launch of a Fourier transform; None for another kernel."""
    if kernel == "generate_bluestein_twiddles":
        return Setup(
            threads=(_TWIDDLES, 1, 1),
            threadgroup=(256, 1, 1),
            # Whole threadgroups are timed.
            arguments={"twiddles": zeros("float2", 3 * 256)},
        )
    found = _NAMES.fullmatch(kernel)
    if found is None:
        return None
    room, kind = int(found["room"]), found["kind"]
    together = min(_TOGETHER, room // _LEAST_ROOM) if kind == "four_step" else 1
    n = room // together
    batch = 3
    constants, each = _plan(n)
    if kind == "four_step":
        arguments, groups = _four_steps(found, n), _OTHER * _OUTER // together
    else:
        arguments, groups = _whole(found, n, batch), tiles(batch, 2 if _is_packed(found) else 1)
    threads = tiles(n, each)
    return Setup(
        threads=(groups, together, threads),
        threadgroup=(1, together, threads),
        arguments={
            "in": random(f"{kernel}.in", found["of"], _LARGEST),
            "out": zeros(found["to"], _LARGEST),
            **arguments,
        },
        constants=constants,
    )


def _is_packed(found: re.Match[str]) -> bool:
    """Whether two real transforms are one of complex numbers."""
    return "float" in (found["of"], found["to"])


def _plan(n: int) -> tuple[dict[int | str, ConstantValue], int]:
    """Function constants of a transform of `n`, a power of two, and elements of a thread."""
    steps, left = dict.fromkeys(_RADICES, 0), n
    for radix in (8, 4, 2):
        while left % radix == 0:
            steps[radix] += 1
            left //= radix
    used = [radix for radix, count in steps.items() if count]
    each = used[0] if len(used) == 1 else max(used) if len(used) == 2 else 4
    constants: dict[int | str, ConstantValue] = {
        _INVERSE: False,
        _IS_POWER: True,
        _OF_THREAD: each,
        _RADER: 0,
        _TABLE: False,
    }
    constants |= {_STEPS + at: steps[radix] for at, radix in enumerate(_RADICES)}
    constants |= {_STEPS + len(_RADICES) + at: 0 for at in range(len(_RADICES))}
    return constants, each


def _whole(found: re.Match[str], n: int, batch: int) -> dict[str, Given]:
    if found["kind"] == "fft":
        return {"n": ints(n), "batch_size": ints(batch)}
    of = "complex32_t" if found["of"] == "complex32_t" else "float2"
    length = n // 2 - 3
    return {
        "w_q": random("w_q", of, n),
        "w_k": random("w_k", of, n),
        "length": ints(length),
        "n": ints(n),
        "batch_size": ints(batch),
    }


def _four_steps(found: re.Match[str], n: int) -> dict[str, Given]:
    first, second = (n, _OTHER) if found["step"] == "0" else (_OTHER, n)
    return {"n1": ints(first), "n2": ints(second), "batch_size": ints(_OTHER * _OUTER)}
