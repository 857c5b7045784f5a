"""The compiled interpreter of slice tasks."""

from __future__ import annotations

import ctypes
import functools

from assay.sim.native.c_header import c_header
from assay.sim.native.c_unit import Code, CUnit

from ..facts.modes import modes
from . import act, layout, state
from .state import Slice


def _header() -> str:
    numbers = {
        name: value
        for module in (layout, state, act)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int)
    }
    operations = modes("alu_op1").modes.values()
    numbers |= {f"OP_{mode.name}": mode.code("op_mode") for mode in operations}
    return c_header(enumerations=({**numbers, "AGENTS": len(layout.AGENTS)},), structures=(Slice,))


UNIT = CUnit(kind="slice", package=__package__, main="run.c", header="slice.h", declared=_header)


@functools.cache
def load_slice() -> Code:
    """The compiled interpreter; the first time on a machine that takes a second or two."""
    return UNIT.load()


@functools.cache
def _run_task() -> ctypes._FuncPointer:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(load_slice().address("run_task"))


def run_task(machine: Slice) -> None:
    """Run a decoded slice task; its `report` says how that went. Other threads run meanwhile."""
    _run_task()(ctypes.addressof(machine))
