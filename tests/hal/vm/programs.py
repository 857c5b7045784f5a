"""VM-only programs as MLIR text, and IREE's own VM to compare with."""

from typing import Any

import numpy as np
import pytest

from assay.hal.vm import Session

from .doubles import compiled, recording_device

VM_FLAGS = ("--compile-mode=vm",)

# mnemonic in MLIR -> (argument kinds, result kind)
_I, _L, _F, _D = "i32", "i64", "f32", "f64"
OPERATIONS: dict[str, tuple[tuple[str, ...], str]] = {}
for _kind in (_I, _L):
    for _name in ("add", "sub", "mul", "and", "or", "xor"):
        OPERATIONS[f"{_name}.{_kind}"] = ((_kind, _kind), _kind)
    for _name in ("div", "rem", "min", "max"):
        for _sign in "su":
            OPERATIONS[f"{_name}.{_kind}.{_sign}"] = ((_kind, _kind), _kind)
    for _name in ("not", "ctlz", "abs"):
        OPERATIONS[f"{_name}.{_kind}"] = ((_kind,), _kind)
    OPERATIONS[f"fma.{_kind}"] = ((_kind,) * 3, _kind)
    OPERATIONS[f"select.{_kind}"] = ((_I, _kind, _kind), _kind)
    for _name in ("shl.{}", "shr.{}.s", "shr.{}.u"):
        OPERATIONS[_name.format(_kind)] = ((_kind, _I), _kind)
    for _name in ("cmp.eq.{}", "cmp.ne.{}", "cmp.lt.{}.s", "cmp.lt.{}.u"):
        OPERATIONS[_name.format(_kind)] = ((_kind, _kind), _I)
    OPERATIONS[f"cmp.nz.{_kind}"] = ((_kind,), _I)
for _name, _from, _to in (
    ("trunc.i32.i8", _I, _I),
    ("trunc.i32.i16", _I, _I),
    ("trunc.i64.i32", _L, _I),
    ("ext.i8.i32.s", _I, _I),
    ("ext.i8.i32.u", _I, _I),
    ("ext.i16.i32.s", _I, _I),
    ("ext.i16.i32.u", _I, _I),
    ("ext.i32.i64.s", _I, _L),
    ("ext.i32.i64.u", _I, _L),
    ("cast.si32.f32", _I, _F),
    ("cast.ui32.f32", _I, _F),
    ("cast.f32.si32", _F, _I),
    ("cast.f32.ui32", _F, _I),
    ("bitcast.i32.f32", _I, _F),
    ("bitcast.f32.i32", _F, _I),
):
    OPERATIONS[_name] = ((_from,), _to)
for _name in ("add", "sub", "mul", "div", "rem", "min", "max"):
    OPERATIONS[f"{_name}.f32"] = ((_F, _F), _F)
for _name in ("abs", "neg", "ceil", "floor", "round", "sqrt", "rsqrt"):
    OPERATIONS[f"{_name}.f32"] = ((_F,), _F)
OPERATIONS["round.f32.even"] = ((_F,), _F)
for _name in ("exp", "log", "sin", "cos", "tanh", "erf", "atan", "exp2", "log2", "log1p", "expm1"):
    OPERATIONS[f"{_name}.f32"] = ((_F,), _F)
OPERATIONS["pow.f32"] = OPERATIONS["atan2.f32"] = ((_F, _F), _F)
OPERATIONS["fma.f32"] = ((_F, _F, _F), _F)
for _name in ("eq", "ne", "lt", "lte"):
    for _order in "ou":
        OPERATIONS[f"cmp.{_name}.f32.{_order}"] = ((_F, _F), _I)
OPERATIONS["cmp.nan.f32"] = ((_F,), _I)


def operations_module() -> str:
    """One exported function per operation."""
    parts = ["vm.module @ops {"]
    for name, (arguments, result) in OPERATIONS.items():
        parameters = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(arguments))
        operands = ", ".join(f"%a{i}" for i in range(len(arguments)))
        parts += [
            f'  vm.export @"{name}"',
            f'  vm.func @"{name}"({parameters}) -> {result} {{',
            f"    %r = vm.{name} {operands} : {_types(name, arguments, result)}",
            f"    vm.return %r : {result}",
            "  }",
        ]
    return "\n".join([*parts, "}"])


def _types(name: str, arguments: tuple[str, ...], result: str) -> str:
    converts = name.startswith(("trunc", "ext", "cast", "bitcast"))
    if converts:
        return f"{arguments[0]} -> {result}"
    return arguments[1] if name.startswith("select") else arguments[0]


class IreeVm:
    """IREE's C VM, for numbers in and numbers out."""

    def __init__(self, data: bytes) -> None:
        self._runtime = pytest.importorskip("iree.runtime")
        instance = self._runtime.VmInstance()
        self._module = self._runtime.VmModule.copy_buffer(instance, data)
        self._context = self._runtime.VmContext(instance, modules=[self._module])

    def call(self, name: str, arguments: tuple[Any, ...], results: int = 1) -> list[Any]:
        inputs = self._runtime.VmVariantList(len(arguments))
        for value in arguments:
            if isinstance(value, float):
                inputs.push_float(value)
            else:
                inputs.push_int(value)
        outputs = self._runtime.VmVariantList(results)
        self._context.invoke(self._module.lookup_function(name), inputs, outputs)
        return [outputs.get_variant(i) for i in range(len(outputs))]


def random_number(kind: str, generator: np.random.Generator) -> int | float:
    """Numbers of a kind: special ones and others alike."""
    if kind in (_F, _D):
        special = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e30, -1e-30, 3.25)
        if generator.random() < 0.4:
            return float(special[generator.integers(len(special))])
        return float(np.float32(generator.standard_normal() * 10.0 ** generator.integers(-3, 4)))
    bits = 32 if kind == _I else 64
    special_bits = (
        0,
        1,
        -1,
        2,
        31,
        32,
        63,
        -(1 << (bits - 1)),
        (1 << (bits - 1)) - 1,
        0x80,
        0xFFFF,
    )
    if generator.random() < 0.4:
        return int(special_bits[generator.integers(len(special_bits))])
    width = int(generator.integers(1, bits))
    value = int(generator.integers(0, 1 << min(width, 63), dtype=np.uint64))
    return (
        value - (1 << (width - 1)) if generator.random() < 0.5 else value & ((1 << (bits - 1)) - 1)
    )


def vm_session() -> Session:
    return Session(recording_device()[0])


__all__ = ["OPERATIONS", "VM_FLAGS", "IreeVm", "compiled", "operations_module", "random_number"]
