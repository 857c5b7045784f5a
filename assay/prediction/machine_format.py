"""Results as plain data for JSON: seconds, cycles, bytes, floating-point operations."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.sim.clock import seconds_of

from .result import DispatchResult, TimeResult

FORMAT = "assay-time/1"


def result_json(result: TimeResult) -> dict[str, Any]:
    """Everything but the timeline; dispatches that equal an earlier one only name it."""
    chip = result.chip
    return {
        "format": FORMAT,
        "program": result.program,
        "chip": {
            "key": chip.key,
            "name": chip.name,
            "cores": chip.cores,
            "clock_hz": chip.clock,
            "bandwidth": chip.bandwidth,
        },
        "seconds": result.seconds,
        "cycles": result.cycles,
        "sampling_error": result.error,
        "model_error": None if result.model_error is None else asdict(result.model_error),
        "gpu_seconds": result.gpu_seconds,
        "host_seconds": result.host_seconds,
        "flops": result.flops,
        "bytes": result.bytes,
        "achieved_flops": result.achieved,
        "achieved_bytes": result.achieved_bytes,
        "causes": result.causes,
        "simulations": result.simulations,
        "assumptions": list(result.assumptions),
        "not_reached": list(result.missed),
        "caches": None if result.is_cold is None else "cold" if result.is_cold else "warm",
        "otherwise_seconds": result.otherwise.seconds if result.otherwise is not None else None,
        "command_buffers": [
            {
                "label": each.label,
                "queue": each.queue,
                "begin": seconds_of(each.begin),
                "end": seconds_of(each.end),
            }
            for each in result.schedule.submissions
        ],
        "stuck_command_buffers": list(result.schedule.stuck),
        "dispatches": [_dispatch(each) for each in result.dispatches],
    }


def _dispatch(dispatch: DispatchResult) -> dict[str, Any]:
    head: dict[str, Any] = {
        "number": dispatch.number,
        "kernel": dispatch.kernel,
        "begin": dispatch.begin,
        "end": dispatch.end,
        "seconds": dispatch.seconds,
        "cycles": dispatch.cycles,
    }
    if dispatch.same_as != dispatch.number:
        return {**head, "same_as": dispatch.same_as}
    return {
        **head,
        "file": dispatch.file,
        "line": dispatch.line,
        "grid": list(dispatch.grid),
        "threadgroup": list(dispatch.threadgroup),
        **_time(dispatch),
        "lines": [
            {"file": each.file, "line": each.line, "cycles": each.cycles, "causes": each.causes}
            for each in dispatch.lines
        ],
        "functions": [
            {"name": each.name, "cycles": each.cycles, "total": each.total, "causes": each.causes}
            for each in dispatch.functions
        ],
    }


def _time(dispatch: DispatchResult) -> dict[str, Any]:
    time = dispatch.time
    return {
        "sampling_error": time.error,
        "model_error": asdict(dispatch.model_error),
        "waves": time.waves,
        "cores": time.cores,
        "threadgroups": time.threadgroups,
        "sampled": time.sampled,
        "extrapolated": time.extrapolated,
        "instructions": time.instructions,
        "occupancy": {
            "simdgroups": time.occupancy.simdgroups,
            "threadgroups": time.occupancy.threadgroups,
            "limiter": time.occupancy.limiter,
            "spilled": time.occupancy.spilled,
        },
        "causes": dict(time.causes),
        "pipes": dict(time.pipes),
        "flops": time.flops,
        "bytes": dict(time.bytes),
        "achieved_flops": time.achieved,
        "achieved_bytes": dict(time.achieved_bytes),
        "peak_bytes": dict(time.peak_bytes),
        "threadgroup_accesses": None if time.banks is None else asdict(time.banks),
        "roofline": {
            "flops": time.roofline.flops_per_second,
            "bytes": time.roofline.bytes_per_second,
            "seconds": time.roofline.seconds,
            "bound": time.roofline.bound,
            "fraction": time.roofline.fraction,
        },
    }
