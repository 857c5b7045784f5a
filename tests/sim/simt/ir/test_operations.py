"""The table of operations: what names stand for, and that every pass knows every operation."""

from __future__ import annotations

import copy
import importlib
import pickle
import re
from pathlib import Path

import pytest

from assay.sim.simt import UnsupportedKernel
from assay.sim.simt.analysis import divergence
from assay.sim.simt.ir.operations.handlers import Handlers
from assay.sim.simt.ir.operations.lanes import SIMD_MIN
from assay.sim.simt.ir.operations.number import U32
from assay.sim.simt.ir.operations.operation import Operation, Variation
from assay.sim.simt.ir.operations.signature import parse
from assay.sim.simt.ir.operations.table import MACHINE, OPERATIONS, Spelled, find_machine
from tests.support.kernels import compile_cpp

ROOT = Path(__file__).parents[4]
# Where passes have tables of their own.
PASSES = (
    "assay.sim.simt.emit.vectorise",
    "assay.sim.simt.emit.helpers",
    "assay.sim.simt.oracle.lane",
    "assay.hw.apple.lower.select",
)
for name in PASSES:
    importlib.import_module(name)

MATCH = """extern "C" __attribute__((convergent, nothrow)) uint __assay_simd_match_i32(uint value);
KERNEL(DEVICE uint* out) {
    out[thread_x()] = __assay_simd_match_i32(out[thread_x()]);
}"""


def test_an_operation_that_nobody_declared_is_refused_where_it_is_called() -> None:
    kernel = compile_cpp(MATCH, "out")
    with pytest.raises(UnsupportedKernel, match="calls '__assay_simd_match_i32'") as caught:
        kernel.function()
    assert caught.value.site.line == 3
    assert caught.value.kernel == "test_kernel"


def test_a_kind_of_number_that_an_operation_has_not_is_refused_with_those_that_it_has() -> None:
    source = """extern "C" __attribute__((convergent)) half __assay_simd_sum_f16(half, int);
        KERNEL(DEVICE half* out) { out[0] = __assay_simd_sum_f16(out[1], 32); }"""
    with pytest.raises(UnsupportedKernel, match="there are simd_sum_f32, simd_sum_i32"):
        compile_cpp(source, "out").function()


def test_an_operation_with_other_operands_than_it_takes_is_refused() -> None:
    source = """extern "C" __attribute__((nothrow)) void __assay_fence(int, float, int);
        KERNEL(DEVICE uint* out) { __assay_fence(1, 1.0f, 1); out[0] = 1; }"""
    with pytest.raises(UnsupportedKernel, match="takes i32 as operand 1, not float"):
        compile_cpp(source, "out").function()


@pytest.mark.parametrize("table", Handlers.all, ids=lambda table: table.what)
def test_every_pass_knows_what_to_do_with_every_operation(table: Handlers[object]) -> None:
    assert table.missing(OPERATIONS.values()) == []


def test_the_analysis_of_divergence_has_a_rule_for_each_way_of_varying() -> None:
    assert set(divergence._RULES) == set(Variation)


def test_a_handler_that_is_missing_is_named_with_the_pass() -> None:
    table: Handlers[int] = Handlers("a pass of this test", lambda operation: True)
    Handlers.all.remove(table)
    with pytest.raises(LookupError, match="a pass of this test knows nothing of 'simd_min'"):
        table[SIMD_MIN]
    table.put((SIMD_MIN,), 1)
    with pytest.raises(ValueError, match="has two handlers of 'simd_min'"):
        table.put((SIMD_MIN,), 2)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("simd_min_u32", Spelled(SIMD_MIN, U32)),
        ("simd_min", None),
        ("simd_min_f16", None),
        ("simd_min_u32.float", None),
        ("add", None),
        ("observe_nan_born", None),
        ("math_exp", None),
        ("math_precise_exp.float.float", Spelled(OPERATIONS["math_exp"], precise=True)),
        ("uninitialised_i24", Spelled(OPERATIONS["uninitialised"])),
    ],
)
def test_names_in_programs_stand_for_rows(name: str, found: Spelled | None) -> None:
    assert find_machine(name) == found


def test_every_name_that_the_headers_declare_is_known() -> None:
    headers = ROOT / "compiler" / "msl" / "include" / "assay" / "intrinsics.h"
    declared = re.findall(r"__assay_(\w+)\(", headers.read_text())
    unknown = {name for name in declared if "#" not in name and not _is_known(name)}
    assert unknown == set()


def _is_known(name: str) -> bool:
    stems = {each.operation.name for each in MACHINE.values()}
    return name in MACHINE or any(stem.startswith(name.rstrip("_")) for stem in stems)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=str)
def test_rows_stay_themselves_when_they_are_copied(operation: Operation) -> None:
    assert copy.deepcopy(operation) is operation
    assert pickle.loads(pickle.dumps(operation)) is operation


@pytest.mark.parametrize(
    ("types", "operands", "result", "problem"),
    [
        ("I I -> I", ["i32", "i32"], "i32", ""),
        ("I I -> I", ["i32", "i64"], "i32", "takes i32 as operand 1, not i64"),
        ("I I -> I", ["i32"], "i32", "takes 2 operands (I I -> I), not 1"),
        ("i64 T T... -> void", ["i64", "half", "half"], "void", ""),
        ("i64 T T... -> void", ["i64", "half", "float"], "void", "takes half as operand 2"),
        ("I -> F", ["i32"], "i32", "gives a float, not i32"),
        ("X -> X", ["float"], "float", "takes i32 as operand 0, not float"),
        ("#i32 -> i32", ["i32"], "i32", "takes a literal as operand 0"),
        ("T *... -> T", ["float", "i32", "half"], "float", ""),
    ],
)
def test_signatures_say_what_is_wrong(
    types: str, operands: list[str], result: str, problem: str
) -> None:
    found = parse(types).problem([(each, False) for each in operands], result, "i32")
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


STRINGS = re.compile(
    r"""\.callee\b | \bcallee\.(?:startswith|endswith|removeprefix)
        | \.op\ (?:==|!=|in|not\ in)\ | \.spelling(?:\ ==|\ in\ |\.startswith)
        | operation\.name\.startswith""",
    re.VERBOSE,
)
# Readers of LLVM's text, in which operations are names, and a message.
READERS = {
    "beyond/marker.py",
    "call_graph.py",
    "defined.py",
    "intrinsics.py",
    "lower.py",
    "object_pointers.py",
    "roots.py",
}


def test_no_pass_asks_an_operation_for_its_name() -> None:
    readers = {ROOT / "sim" / "simt" / "read" / name for name in READERS}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for room in ("sim/simt", "hw/apple", "assay/launches", "assay/prediction")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path not in readers and not path.name.startswith("llvm_")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if STRINGS.search(line)
    ]
    assert found == []
