"""Programs in VM assembly: what the compiler does not write, against IREE's own VM."""

import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.hal.vm import LoadedModule, VmError

from .programs import IreeVm, random_number, vm_session

_UNARY = ("abs", "neg", "ceil", "floor", "round", "sqrt", "rsqrt", "exp", "log", "sin", "tanh")
_BINARY = ("add", "sub", "mul", "div", "rem", "min", "max", "pow", "atan2")
_COMPARISONS = [f"cmp.{name}.f64.{order}" for name in ("eq", "ne", "lt", "lte") for order in "ou"]
F64 = {
    **{f"{name}.f64": 1 for name in _UNARY},
    "round.f64.even": 1,
    **{f"{name}.f64": 2 for name in _BINARY},
    **dict.fromkeys(_COMPARISONS, 2),
    "cmp.nan.f64": 1,
    "cast.f64.si64": 1,
    "cast.f64.si32": 1,
}
"""Instruction -> number of f64 operands. Values travel as the bits of their i64."""

PROGRAM = """\
vm.module @assembled version 0
vm.type i32
vm.type i64
vm.type !vm.buffer
vm.type !vm.list<i32>
vm.type !vm.opaque
vm.rodata[0] = 0102030405060708

vm.export @factorial
vm.func @factorial(%i0:1: i64) -> (i64) {
^bb0:
  %i2:3 = vm.const.i64 1
  %i4 = vm.cmp.lt.i64.s %i0:1, %i2:3
  vm.cond_br %i4, ^bb1(), ^bb2()
^bb1:
  vm.return %i2:3
^bb2:
  %i2:3 = vm.sub.i64 %i0:1, %i2:3
  %i2:3 = vm.call @assembled:0(%i2:3)
  %i0:1 = vm.mul.i64 %i0:1, %i2:3
  vm.return %i0:1
}

vm.func @ignores(%i0: i32, %r0: !vm.ref<?>) -> () {
^bb0:
  vm.return
}

vm.export @calls_one_that_ignores
vm.func @calls_one_that_ignores(%i0: i32) -> (i32) {
^bb0:
  %r0 = vm.const.ref.rodata 0
  vm.call @assembled:1(%i0, %R0)
  vm.return %i0
}

vm.export @variants
vm.func @variants(%i0:1: i64, %i2: i32) -> (i64) {
^bb0:
  %i3 = vm.const.i32 3
  %i4 = vm.const.i32.zero
  %i5 = vm.const.i32 1
  %r0 = vm.list.alloc %i3 : !vm.list<!vm.opaque>
  vm.list.resize %r0, %i3
  vm.list.set.i32 %r0, %i4, %i2
  vm.list.set.i64 %r0, %i5, %i0:1
  %i6:7 = vm.list.get.i64 %r0, %i4
  %i8:9 = vm.list.get.i64 %r0, %i5
  %i6:7 = vm.xor.i64 %i6:7, %i8:9
  vm.return %i6:7
}

vm.export @moved
vm.func @moved() -> (i32) {
^bb0:
  %r0 = vm.const.ref.rodata 0
  %r1 = vm.assign.ref %R0
  %i0 = vm.cmp.nz.ref %r0
  %i1 = vm.cmp.nz.ref %r1
  %i2 = vm.const.i32 1
  %i0 = vm.shl.i32 %i0, %i2
  %i0 = vm.or.i32 %i0, %i1
  vm.return %i0
}
"""


def assembled(text: str, folder: Path) -> bytes:
    tool = Path(sys.executable).with_name("iree-as-module")
    if not tool.exists():
        pytest.skip("iree-as-module is not installed")
    source, output = folder / "program.vmasm", folder / "program.vmfb"
    source.write_text(text)
    done = subprocess.run(
        [str(tool), f"--output={output}", str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return output.read_bytes()


def float_functions() -> str:
    parts = ["vm.module @floats version 0", "vm.type f64", "vm.type i64", "vm.type i32", ""]
    for name, operands in F64.items():
        arguments = ", ".join(f"%i{2 * i}:{2 * i + 1}: i64" for i in range(operands))
        registers = ", ".join(f"%i{2 * i + 4}:{2 * i + 5}" for i in range(operands))
        to_i32 = name.startswith("cmp") or name.endswith("si32")
        result = "%i8" if to_i32 else "%i8:9"
        parts += [f"vm.export @{symbol(name)}"]
        parts += [f"vm.func @{symbol(name)}({arguments}) -> (i64) {{", "^bb0:"]
        parts += [
            f"  %i{2 * i + 4}:{2 * i + 5} = vm.bitcast.i64.f64 %i{2 * i}:{2 * i + 1}"
            for i in range(operands)
        ]
        parts += [f"  {result} = vm.{name} {registers}"]
        if to_i32:
            parts += ["  %i10:11 = vm.ext.i32.i64.s %i8"]
        elif name.endswith("si64"):
            parts += ["  %i10:11 = vm.xor.i64 %i8:9, %i8:9", "  %i10:11 = vm.or.i64 %i10:11, %i8:9"]
        else:
            parts += ["  %i10:11 = vm.bitcast.f64.i64 %i8:9"]
        parts += ["  vm.return %i10:11", "}", ""]
    return "\n".join(parts)


def symbol(name: str) -> str:
    return name.replace(".", "_")


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModule, IreeVm]:
    data = assembled(float_functions(), tmp_path_factory.mktemp("floats"))
    return vm_session().load(data), IreeVm(data)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[LoadedModule, IreeVm]:
    data = assembled(PROGRAM, tmp_path_factory.mktemp("programs"))
    return vm_session().load(data), IreeVm(data)


@pytest.mark.parametrize("name", F64)
def test_double_precision_operation_computes_what_irees_vm_computes(
    floats: tuple[LoadedModule, IreeVm], name: str
) -> None:
    generator = np.random.default_rng(len(name))
    for _ in range(25):
        values = [random_number("f64", generator) for _ in range(F64[name])]
        bits = tuple(struct.unpack("<q", struct.pack("<d", value))[0] for value in values)
        (got,) = floats[0].invoke(symbol(name), *bits)
        (expected,) = floats[1].call(symbol(name), bits)
        assert got == expected or close(got, expected), (name, values, got, expected)


def close(got: int, expected: int) -> bool:
    a, b = (struct.unpack("<d", struct.pack("<q", bits))[0] for bits in (got, expected))
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-15)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("factorial", (0,)),
        ("factorial", (20,)),
        ("factorial", (25,)),
        ("calls_one_that_ignores", (7,)),
        ("variants", (1 << 40, -3)),
        ("moved", ()),
    ],
)
def test_program_returns_what_irees_vm_returns(
    programs: tuple[LoadedModule, IreeVm], name: str, arguments: tuple[int, ...]
) -> None:
    assert programs[0].invoke(name, *arguments) == programs[1].call(name, arguments)


def test_recursion_without_end_is_stopped(programs: tuple[LoadedModule, IreeVm]) -> None:
    with pytest.raises(VmError, match="calls nest deeper than 4096"):
        programs[0].invoke("factorial", 1 << 40)
