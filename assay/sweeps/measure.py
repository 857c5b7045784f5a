"""Predicts one point: its kernel is put together, compiled, sampled and simulated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from assay.compiler.costs import CostError, KernelUse
from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import Format, format_of
from assay.compiler.foundry.kernels import Declared, Output, Params, Tensor
from assay.compiler.foundry.library import Ready
from assay.compiler.msl.errors import CompileError
from assay.hal.metal.timed import ChipCosts
from assay.hw.apple.core.result import DispatchTime
from assay.hw.apple.core.sample import WAVES
from assay.hw.apple.facts.chips import chip

from .errors import SweepError
from .makers import variant_of
from .point import Point, Recipe
from .rows import Row
from .variants import SCALARS, VARIANTS, Make

_KEPT: Final = 32  # compiled kernels: points of one follow each other
_LEAST: Final = 4  # bytes of a buffer: Metal has no empty ones


class Bench:
    """Measures points; kernels that it compiled are kept, for other sizes and chips."""

    def __init__(self) -> None:
        self._compiled: OrderedDict[str, Declared] = OrderedDict()

    def row(self, point: Point, *, waves: int = WAVES) -> Row:
        """The row of a point. What goes wrong is the row's reason; nothing is raised."""
        try:
            use = self._use(point)
            time = ChipCosts(chip(point.chip), warm=point.warm, waves=waves).time_of(use)
        except FoundryError as error:
            return _failed(str(error), error.rule)
        except (CompileError, CostError, SweepError) as error:
            return _failed(str(error))
        except Exception as error:  # one point of many: it is told, and the others go on
            return _failed(f"internal error ({type(error).__name__}: {error})")
        return _found(point, use, time)

    def _use(self, point: Point) -> KernelUse:
        weights = format_of(point.recipe.policy)
        declared, grid_of = _ready(point, weights)
        declared = self._kept(declared)
        values = _values(declared, point, weights)
        grid = grid_of(values)
        function = declared.library.function(declared.function)
        return KernelUse(
            kernel=function,
            threadgroups=grid.threadgroups,
            threadgroup=grid.threads,
            arguments=tuple(_given(declared, each.name, values) for each in function.arguments),
        )

    def _kept(self, declared: Declared) -> Declared:
        """One with the same text that is compiled already, if there is one."""
        known = self._compiled.get(declared.source)
        if known is None:
            self._compiled[declared.source] = declared
            if len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
            return declared
        self._compiled.move_to_end(declared.source)
        # Shapes and parameters are of this size, the program is the one that is compiled.
        declared.library = known.library
        return declared


def maker_of(recipe: Recipe) -> Make:
    """What makes a kernel."""
    if recipe.maker is not None:
        return variant_of(recipe.maker[0]).make
    return VARIANTS[recipe.variant].make


def _ready(point: Point, weights: Format) -> Ready:
    recipe = point.recipe
    return maker_of(recipe)(weights, point.n, SCALARS[recipe.element], **dict(recipe.knobs))


def _values(declared: Declared, point: Point, weights: Format) -> dict[str, Any]:
    """Arguments by name: arrays of zeros that take no memory; parameters follow from them."""
    matrix, scales = weight_bytes(weights, point.n, point.k)
    values: dict[str, Any] = {}
    shapes = {"matrix": (matrix,), "scales": (scales,), "x": (point.m, point.k)}
    for name, argument in declared.arguments.items():
        if isinstance(argument, Tensor) and not isinstance(argument, Output):
            if name not in shapes:
                raise SweepError(
                    f"{declared.function} takes {name}; a sweep gives {', '.join(shapes)}"
                )
            values[name] = _zeros(shapes[name], argument)
    for name, argument in declared.arguments.items():
        if isinstance(argument, Output):
            values[name] = _zeros(_shape(argument, values), argument)
    for name, argument in declared.arguments.items():
        if isinstance(argument, Params):
            if argument.make is None:
                raise SweepError(f"{declared.function} takes {name}, which is not derived")
            made = argument.make(values)
            values[name] = argument.layout.pack(made, f"{declared.function}: {name}", {})
    return values


def _zeros(shape: tuple[int, ...], argument: Tensor) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.zeros((), argument.dtype), shape)


def _shape(argument: Output, values: Mapping[str, Any]) -> tuple[int, ...]:
    shape = argument.shape
    if isinstance(shape, str):
        return tuple(values[shape].shape)
    return tuple(shape(values) if callable(shape) else shape)


def _given(declared: Declared, name: str, values: Mapping[str, Any]) -> int | bytes:
    """How large a buffer is; the bytes of parameters, which decide how a kernel goes."""
    value = values[name]
    return value if isinstance(value, bytes) else max(int(value.nbytes), _LEAST)


def weight_bytes(weights: Format, rows: int, columns: int) -> tuple[int, int]:
    """Bytes of the matrix and of the scales of weights [rows, columns] in a format."""
    # Both grow by the same for each row.
    one, two = (weights.pack(np.zeros((count, columns), np.float32)) for count in (1, 2))
    sizes = [
        first + (rows - 1) * (second - first)
        for first, second in (
            (one.matrix.size, two.matrix.size),
            (one.scales.size, two.scales.size),
        )
    ]
    return sizes[0], sizes[1]


def _failed(reason: str, rule: str | None = None) -> Row:
    return {"status": "failed", "rule": rule, "reason": reason}


def _found(point: Point, use: KernelUse, time: DispatchTime) -> Row:
    device = sum(size for size in use.arguments if isinstance(size, int))
    roof = time.roofline
    needed = max(
        device / roof.bytes_per_second, 2 * point.m * point.n * point.k / roof.flops_per_second
    )
    return {
        "status": "ok",
        "seconds": time.seconds,
        "sampling_error": time.error,
        "kind": time.kind,
        "bound": roof.bound,
        "roofline": roof.fraction,
        "least_seconds": needed,
        "threadgroups": time.threadgroups,
        "threads": use.threadgroup[0] * use.threadgroup[1] * use.threadgroup[2],
        "threadgroup_memory": threadgroup_memory_of(use),
        "resident_threadgroups": time.occupancy.threadgroups,
        "resident_simdgroups": time.occupancy.simdgroups,
        "limiter": time.occupancy.limiter,
        "spilled": time.occupancy.spilled,
        "device_bytes": device,
        "dram_bytes": time.bytes.get("dram", 0.0),
        "sampled": time.sampled,
        "causes": {cause: part / time.cycles for cause, part in time.causes.items()},
    }


def threadgroup_memory_of(use: KernelUse) -> int:
    """Bytes of threadgroup memory of one threadgroup."""
    return use.kernel.program().specialise(use.threadgroup).threadgroup_memory
