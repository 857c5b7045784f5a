"""`assay time` of a Torq executable: cycles of the NPU's units, and what they waited for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .run import TorqOptions, first, save_trace, timed_torq

if TYPE_CHECKING:
    from assay.hal.torq.executable import LoadedExecutable
    from assay.hw.torq.timing.timeline import NpuTime

_PERCENT = 100
_WHOLE = 10
"""Percent from which on tenths do not matter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Timed:
    """One run's figures. `lram` is the bytes of LRAM that anything touched."""

    name: str
    seconds: float
    host_seconds: float
    npu: "NpuTime"
    lram: int


def time_executable(
    options: TorqOptions, inputs: list[str], trace: Path | None, *, json: bool
) -> None:
    """Runs it and prints where the time went; inputs that are not given are zeros."""
    from assay.hw.torq.timing.timeline import npu_time

    from ...text_values import parse_inputs
    from ..terminal import print_json, progress

    values = parse_inputs(inputs)
    with progress() as say:
        say(first(f"running {options.path} on the NPU"))
        name, loaded = timed_torq(options, values, trace)
    if trace is not None:
        save_trace(loaded, name, trace)
    npu = npu_time(loaded.device.events)
    clock = loaded.device.machine.clock_hz
    timed = _Timed(
        name=name,
        seconds=npu.cycles / clock,
        host_seconds=npu.host / clock,
        npu=npu,
        lram=_touched(loaded),
    )
    if json:
        print_json(_json(timed))
    else:
        typer.echo("\n".join(_text(timed)))


def _touched(loaded: "LoadedExecutable") -> int:
    """Bytes of LRAM that were read or written at all."""
    import numpy as np

    used = np.zeros(loaded.device.machine.lram, np.bool_)
    for access in loaded.device.accesses:
        if access.memory == "LRAM":
            for start, stop in access.ranges:
                used[start:stop] = True
    return int(used.sum())


def _text(timed: _Timed) -> list[str]:
    npu = timed.npu
    lines = [
        f"{timed.name}: {npu.cycles:,} cycles, {1e6 * timed.seconds:,.1f} us; "
        f"{timed.lram:,} B of LRAM touched",
        f"host: copies, starts and interrupts, {1e6 * timed.host_seconds:,.1f} us",
        f"DMA and compute at once {_share(npu.both, npu)}, DMA alone {_share(npu.only_dma, npu)}, "
        f"compute alone {_share(npu.only_compute, npu)}, neither {_share(npu.neither, npu)}",
    ]
    lines += [f"  {unit.unit:<4}  {_reasons(unit.reasons, npu)}" for unit in npu.units]
    return lines


def _reasons(reasons: dict[str, int], npu: "NpuTime") -> str:
    """The greatest first; details, which follow a colon, in brackets."""
    whole: dict[str, int] = {}
    details: dict[str, dict[str, int]] = {}
    for reason, cycles in reasons.items():
        head, _, detail = reason.partition(": ")
        whole[head] = whole.get(head, 0) + cycles
        if detail:
            details.setdefault(head, {})[detail] = cycles
    parts = []
    for head, cycles in sorted(whole.items(), key=lambda item: -item[1]):
        inside = f" ({_reasons(details[head], npu)})" if head in details else ""
        parts.append(f"{head} {_share(cycles, npu)}{inside}")
    return ", ".join(parts)


def _share(cycles: int, npu: "NpuTime") -> str:
    share = _PERCENT * cycles / npu.cycles if npu.cycles else 0.0
    return f"{share:.0f} %" if share >= _WHOLE or not share else f"{share:.1f} %"


def _json(timed: _Timed) -> dict[str, Any]:
    npu = timed.npu
    return {
        "executable": timed.name,
        "cycles": npu.cycles,
        "seconds": timed.seconds,
        "host_seconds": timed.host_seconds,
        "lram_bytes_touched": timed.lram,
        "overlap": {
            "both": npu.both,
            "only_dma": npu.only_dma,
            "only_compute": npu.only_compute,
            "neither": npu.neither,
        },
        "units": {unit.unit: dict(unit.causes) for unit in npu.units},
        "reasons": {unit.unit: dict(unit.reasons) for unit in npu.units},
    }
