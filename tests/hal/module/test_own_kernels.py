"""Kernels of a module's own: texts of MSL on Metal, executables on the NPU."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from assay.assay_module import AssayModule, load_assay
from assay.checks.modules import check_assay_module
from assay.hal.module import staged
from assay.hal.module.expressions import Op
from assay.hal.module.file import read_module, write_module
from assay.hal.module.listing import listing
from assay.hal.module.records import (
    NONE,
    Argument,
    Call,
    FunctionConstant,
    Kernel,
    Place,
    Stage,
)
from assay.hal.module.staged import MslProgram
from assay.hal.module.text import from_text, to_text
from assay.hal.observe import checking
from assay.hal.status import StatusError
from assay.hal.torq.write import write_executable
from assay.reports.report import Report
from assay.sim.check import Checker
from tests.support.assay_modules import U32, Draft, DraftModel
from tests.support.torq_executables import multiply

I8 = 0x10 << 24 | 8
OPERANDS = (
    np.arange(64, dtype=np.int8).tobytes()
    + np.full(64, 2, np.int8).tobytes()
    + np.array([10, 1 << 16], np.int32).tobytes()
)
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127).astype(np.int8).tobytes()
SUM = """#line 1 "sum.metal"
#include <metal_stdlib>
using namespace metal;
constant uint together [[function_constant(3)]];
struct Sizes { uchar unused; uint n; ulong chunk; };

kernel void parts(const device float* x [[buffer(4)]], device float* out [[buffer(1)]],
                  constant Sizes& sizes [[buffer(2)]], threadgroup float* mine [[threadgroup(0)]],
                  uint group [[threadgroup_position_in_grid]],
                  uint lane [[thread_position_in_threadgroup]],
                  uint lanes [[threads_per_threadgroup]]) {
    float sum = 0;
    for (uint i = lane; i < sizes.chunk; i += lanes)
        if (group * sizes.chunk + i < sizes.n) sum += x[group * sizes.chunk + i];
    mine[lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_ = lanes / 2; half_ > 0; half_ /= 2) {
        if (lane < half_) mine[lane] += mine[lane + half_];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (lane == 0) out[group] = mine[0];
}

kernel void whole(const device float* parts [[buffer(0)]], device float* y [[buffer(1)]],
                  constant uint& count [[buffer(2)]], uint at [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint i = 0; i < count; ++i) sum += parts[i];
    for (uint i = 0; i < together; ++i) y[i] = sum;
}
"""
CHUNK, LANES, COPIES = 64, 64, 2


def summing(source: str = SUM, maximum: int = 0) -> Draft:
    """x f32[n] to y f32[2], both its sum, in two passes: parts of it are in the workspace."""
    draft = Draft("sums", devices=("metal",), segments=[source.encode()])
    n = draft.code(Op.SYMBOL, draft.symbol("n", 1, maximum))
    one, lanes = draft.const(1), draft.const(LANES)
    parts = draft.code(Op.SYMBOL, 0, Op.CONST, CHUNK, Op.CEILDIV)
    chunk, behind = draft.const(CHUNK), draft.const(16)
    bytes_of_parts = (Op.SYMBOL, 0, Op.CONST, CHUNK, Op.CEILDIV, Op.CONST, 4, Op.MUL)
    size = draft.code(*bytes_of_parts, Op.CONST, 16, Op.ADD)
    # Operands: 0 x, 1 y, 2 n, 3 chunk, 4 parts, 5 where parts begin, 6 the workspace.
    first = Stage(
        "parts",
        NONE,
        (
            Argument(0, 4, 0, NONE),
            Argument(6, 1, 0, 5),
            Argument(2, 2, U32, 4),
            Argument(3, 2, 0x12 << 24 | 64, 8),
        ),
        (FunctionConstant(3, U32, COPIES),),
        (4 * LANES,),
    )
    last = Stage(
        "whole",
        0,
        (Argument(6, 0, 0, 5), Argument(1, 1, 0, NONE), Argument(4, 2, U32, 0)),
        (FunctionConstant(3, U32, COPIES),),
        (),
    )
    draft.kernels.append(Kernel(0, "msl", 0, "sum", 1, 4, 1, (first, last)))
    model = DraftModel(draft)
    x = model.given("x", n)
    y = model.tensor((COPIES,), Place.PLANNED, size=8)
    grids, threads = (parts, one, one, one, one, one), (lanes, one, one, one, one, one)
    model.run(Call(0, (x,), (n, chunk, parts, behind), (y,), size, grids, threads))
    model.finish(y=y)
    return draft


def data_of(draft: Draft) -> bytes:
    return write_module(draft.module(), draft.segments)


def loaded(draft: Draft, device: str = "emulated") -> AssayModule:
    return load_assay(data_of(draft), device)


def numbers(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-100, 100, n).astype(np.float32)


def test_msl_runs_over_grids_that_follow_from_sizes_with_workspace_that_grows() -> None:
    context = loaded(summing()).new_context()
    sizes = []
    for seed, n in enumerate((5, 64, 65, 5, 5, 5, 100_000, 65, 65, 65)):
        x = numbers(n, seed)
        assert context(x).tolist() == [x.sum()] * COPIES
        sizes.append(context.memory.workspaces)
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1] < 8000
    allocations = context.memory.allocations
    for seed in range(4):
        context(numbers(90_000, seed))
    assert context.memory.allocations == allocations


def test_beyond_its_bound_nothing_runs_and_threads_share_the_module() -> None:
    module = loaded(summing(maximum=1000))
    with pytest.raises(StatusError, match="1000"):
        module(numbers(1001))

    def work(seed: int) -> bool:
        x = [numbers(500 + 10 * seed + step, seed) for step in range(10)]
        return all(module(each)[1] == each.sum() for each in x)

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(work, range(2)))


def test_the_text_form_and_inspect_have_all_of_it() -> None:
    data = data_of(summing())
    file = read_module(data)
    assert from_text("\n".join(to_text(file)), "sums") == data
    said = "\n".join(listing(file, whole=True))
    assert (
        "msl: parts(1: workspace, 2: constant 0 as ui32, 2: constant 1 as ui64, 4: input 0" in said
    )
    assert "over ceildiv(s0, 64)x1x1 of 64x1x1, 1x1x1 of 1x1x1" in said


def findings(source: str) -> list[str]:
    with checking(Checker()) as checker:
        context = loaded(summing(source)).new_context()
        for seed in range(3):
            context(numbers(200, seed))
    return [f"{each.check} {each.parties[0].site}" for each in checker.findings]


def test_findings_name_the_lines_of_the_text() -> None:
    assert not findings(SUM)
    line = "mine[lane] = sum;\n    threadgroup_barrier(mem_flags::mem_threadgroup);"
    assert line in SUM
    raced = findings(SUM.replace(line, "mine[lane] = sum;\n"))
    assert "race sum.metal:14:16" in raced


def test_what_goes_beyond_a_tensor_is_found_though_tensors_share_an_arena() -> None:
    module = loaded(summing(SUM.replace("y[i] = sum;", "y[i + 1] = sum;")))
    report = Report()
    check_assay_module(module, [numbers(100)], report)
    (found,) = report.findings
    assert (found.check, str(found.parties[0].site)[:10]) == ("bounds", "sum.metal:")
    clean = Report()
    check_assay_module(loaded(summing()), [numbers(100)], clean)
    assert not clean.findings


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (SUM.replace("float sum = 0;", "flaot sum = 0;"), r"sum\.metal:\d+"),
        (SUM.replace("void whole(", "void hole("), "no kernel 'whole'"),
        (SUM.replace("[[buffer(4)]]", "[[buffer(9)]]"), r"\[\[buffer\(9\)\]\]"),
    ],
)
def test_a_text_that_is_wrong_is_named_and_the_module_stays_usable(source: str, said: str) -> None:
    context = loaded(summing(source)).new_context()
    for _ in range(2):
        with pytest.raises(StatusError, match=said):
            context(numbers(5))


def test_bytes_that_are_no_text_are_refused() -> None:
    draft = summing()
    draft.segments[0] = b"\xff\xfe" + draft.segments[0]
    with pytest.raises(StatusError, match="no text"):
        loaded(draft)


def multiplying(first: int = 0) -> Draft:
    """x i8[136], two vectors of 64 numbers and a scale, to y i8[64], by the NPU."""
    draft = Draft("products", devices=("torq",), segments=[write_executable(multiply())])
    stage = Stage("multiply", NONE, (Argument(0, first, 0, NONE), Argument(1, 1, 0, NONE)), (), ())
    draft.kernels.append(Kernel(0, "torq", 0, "products", 1, 0, 1, (stage,)))
    model = DraftModel(draft)
    x = model.given("x", draft.const(136), element_type=I8)
    y = model.tensor((64,), Place.PLANNED, size=64, element_type=I8)
    model.run(Call(0, (x,), (), (y,)))
    model.finish(y=y)
    return draft


def test_code_for_sizes_of_threadgroups_is_kept_for_the_last_ones_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staged, "MOST_SIZES", 3)
    draft = summing()
    call = draft.models[0].regions[0].instructions[0]
    assert isinstance(call, Call)
    size = draft.code(Op.SYMBOL, 0)
    call = replace(call, threads=(*call.threads[:4], size, call.threads[5]))
    region = replace(draft.models[0].regions[0], instructions=(call,))
    draft.models[0] = replace(draft.models[0], regions=(region,))
    context = loaded(draft).new_context()
    program = context.context.opened.program(0)
    assert isinstance(program, MslProgram)
    for n in (1, 2, 3, 4, 5, 1):
        assert context(numbers(n)).tolist() == [numbers(n).sum()] * COPIES
    assert len(program._made) == 3


def test_an_executable_of_the_npu_is_a_kernel() -> None:
    context = loaded(multiplying(), "torq").new_context()
    for _ in range(3):
        found = context(np.frombuffer(OPERANDS, np.int8))
        assert found.tobytes() == PRODUCTS
    file = read_module(data_of(multiplying()))
    assert from_text("\n".join(to_text(file)), "products") == data_of(multiplying())
    assert "torq: multiply(0: input 0, 1: output 0)" in "\n".join(listing(file, whole=True))


def test_executables_that_are_damaged_or_given_too_little_end_in_clear_errors() -> None:
    with pytest.raises(StatusError, match="leave some out"):
        data_of(multiplying(first=2))
    draft = multiplying()
    draft.segments[0] = draft.segments[0][:40]
    with pytest.raises(StatusError):
        loaded(draft, "torq")
    draft = multiplying()
    draft.kernels[0] = replace(
        draft.kernels[0], stages=(replace(draft.kernels[0].stages[0], entry="divide"),)
    )
    with pytest.raises(StatusError, match="'divide' not found; there are: multiply"):
        loaded(draft, "torq")


Change = Callable[[Kernel, Call], tuple[Kernel, Call]]


def arguments(kernel: Kernel, stage: int, made: Sequence[Argument]) -> Kernel:
    stages = list(kernel.stages)
    stages[stage] = replace(stages[stage], arguments=tuple(made))
    return replace(kernel, stages=tuple(stages))


def changed_argument(**changes: int) -> Change:
    def change(kernel: Kernel, call: Call) -> tuple[Kernel, Call]:
        first, *others = kernel.stages[1].arguments
        return arguments(kernel, 1, (replace(first, **changes), *others)), call

    return change


def changed_constant(**changes: int) -> Change:
    def change(kernel: Kernel, call: Call) -> tuple[Kernel, Call]:
        *others, last = kernel.stages[0].arguments
        return arguments(kernel, 0, (*others, replace(last, **changes))), call

    return change


FAULTS: dict[str, tuple[Change, str]] = {
    "no segment": (
        lambda k, c: (replace(k, stages=(replace(k.stages[0], segment=9), k.stages[1])), c),
        "the segment of stage parts is 9 of 1",
    ),
    "no stages": (lambda k, c: (replace(k, stages=()), c), "0 stages"),
    "stages of others": (lambda k, c: (replace(k, format="vmfb"), c), "2 stages for the format"),
    "no operand": (changed_argument(operand=7), "operand 7 of 6"),
    "a negative operand": (changed_argument(operand=-2), "operand -2"),
    "an offset that is no constant": (changed_argument(offset=1), "begins where operand 1 says"),
    "an index too large": (changed_argument(index=31), "0 to 30 are possible"),
    "one index twice": (changed_argument(index=1), "two tensors at one of the indices"),
    "a constant over memory": (changed_constant(index=4), "index 4"),
    "a constant beyond the bytes": (changed_constant(offset=4096), "byte 4096"),
    "constants that overlap": (changed_constant(element_type=U32, offset=4), "overlap"),
    "an odd place": (changed_constant(offset=12), "not aligned"),
    "no number": (changed_constant(element_type=0x23 << 24 | 128), "16 bytes"),
    "no type": (changed_constant(element_type=77), "no NumPy counterpart"),
    "no grid": (lambda k, c: (k, replace(c, threadgroups=())), "takes 6 sizes of grids"),
    "half a threadgroup": (lambda k, c: (k, replace(c, threads=c.threads[:3])), "not 6 and 3"),
    "no workspace": (lambda k, c: (k, replace(c, workspace=NONE)), "whether there is workspace"),
    "too much threadgroup memory": (
        lambda k, c: (replace(k, stages=(replace(k.stages[0], threadgroup_memory=(1 << 20,)),)), c),
        "threadgroup memory",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_kernels_that_do_not_hold_together_are_refused(name: str) -> None:
    change, said = FAULTS[name]
    draft = summing()
    module = draft.module()
    model = module.models[0]
    call = model.regions[0].instructions[-1]
    assert isinstance(call, Call)
    kernel, call = change(module.kernels[0], call)
    region = replace(model.regions[0], instructions=(call,))
    module = replace(module, kernels=(kernel,), models=(replace(model, regions=(region,)),))
    with pytest.raises(StatusError, match=said):
        write_module(module, draft.segments)


@pytest.mark.parametrize(
    ("threads", "grid", "said"),
    [
        (0, 1, "1 to 1024 threads"),
        (1025, 1, "1 to 1024"),
        (32, -1, "grid of -1"),
        (32, 1 << 40, "1 to"),
    ],
)
def test_sizes_that_no_grid_has_end_in_clear_errors(threads: int, grid: int, said: str) -> None:
    draft = summing()
    call = draft.models[0].regions[0].instructions[0]
    assert isinstance(call, Call)
    wide, deep = draft.const(threads), draft.const(grid)
    grids = (deep, *call.threadgroups[1:])
    call = replace(call, threads=(wide, *call.threads[1:]), threadgroups=grids)
    region = replace(draft.models[0].regions[0], instructions=(call,))
    draft.models[0] = replace(draft.models[0], regions=(region,))
    with pytest.raises(StatusError, match=said):
        loaded(draft)(numbers(5))
