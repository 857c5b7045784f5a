"""Compound kernels: stages fused by the contract, and refused by name where they break it."""

from typing import Any, ClassVar

import numpy as np
import pytest

from assay.compiler.foundry.kernels import Emitted, ThreadgroupArray, argument_of
from assay.compiler.msl import CompileError
from assay.foundry import (
    GELU,
    PRELUDE,
    RELU,
    SILU,
    Compound,
    Epilogue,
    FoundryError,
    Kernel,
    PolicyStage,
    Result,
    TemplateStage,
    bias,
    custom,
    format_of,
    output,
    per_element,
    residual,
    struct,
    tensor,
)
from assay.foundry.types import half, uchar, uint


@struct
class GemvParams:
    rows: uint
    columns: uint


DOT = """
template <typename Policy>
inline float dot(const device uchar* matrix, const device uchar* scales, const device float* x,
                 constant GemvParams* params, uint row, uint first, uint step) {
    float sum = 0;
    for (uint k = first * 8; k < params->columns; k += step * 8) {
        float w[8];
        Policy::load8(matrix, scales, params->rows, params->columns, row, k, w);
        for (uint i = 0; i < 8; ++i) {
            sum += w[i] * x[k + i];
        }
    }
    return sum;
}
"""

BLOCK = """
// One threadgroup of 64 threads for each row.
template <typename Policy, typename Epilogue>
void gemv(const device uchar* matrix, const device float* x, device float* y,
          constant GemvParams* params, const device uchar* scales, uint3 gid, uint3 lid,
          threadgroup float* partial, Epilogue epilogue) {
    partial[lid.x] = dot<Policy>(matrix, scales, x, params, gid.x, lid.x, 64);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lid.x == 0) {
        float sum = 0;
        for (uint i = 0; i < 64; ++i) {
            sum += partial[i];
        }
        y[gid.x] = epilogue(sum, gid.x);
    }
}
"""

ROW = """
// One simdgroup for each row.
template <typename Policy>
float row_sum(const device uchar* matrix, const device float* x, device float* y,
              constant GemvParams* params, const device uchar* scales, uint3 gid, uint3 lid) {
    return simd_sum(dot<Policy>(matrix, scales, x, params, gid.x, lid.x, 32));
}
"""

OWN = {
    "x": tensor(float),
    "y": output(float, lambda given: (given["params"].rows,)),
    "params": GemvParams,
}


def block(**changed: Any) -> TemplateStage:
    given = {"threadgroup": "float partial[64]", "with_epilogue": True, **changed}
    return TemplateStage(DOT + BLOCK, "gemv", OWN, **given)


def row() -> TemplateStage:
    return TemplateStage(DOT + ROW, "row_sum", OWN, result=Result(at="gid.x", when="lid.x == 0"))


ROWS, COLUMNS = 11, 512
RANDOM = np.random.default_rng(9)
WEIGHTS = RANDOM.normal(size=(ROWS, COLUMNS)).astype(np.float32) / 16
X = RANDOM.normal(size=COLUMNS).astype(np.float32)
SHIFT = RANDOM.normal(size=ROWS).astype(np.float16)


def called(compound: Compound, name: str, threads: int, **more: Any) -> np.ndarray:
    packed = format_of(name).pack(WEIGHTS)
    kernel = Kernel(compound, grid=custom(lambda given: (given["params"].rows,), (threads,)))
    given = {
        "matrix": packed.matrix,
        "scales": packed.scales,
        "x": X,
        "params": GemvParams(rows=ROWS, columns=COLUMNS),
        **more,
    }
    assert not kernel.check(**given).findings
    made: np.ndarray = kernel(**given)
    return made


def expected(name: str) -> np.ndarray:
    weights = format_of(name)
    return weights.unpack(weights.pack(WEIGHTS)) @ X


def silu(value: np.ndarray) -> np.ndarray:
    return value / (1 + np.exp(-value))


@pytest.mark.parametrize("name", ["q8_0", "q4_k", "mlx_affine_4_64"])
def test_a_policy_a_product_and_an_activation_are_one_kernel(name: str) -> None:
    compound = Compound(
        "fused_gemv_silu",
        prologue=[PolicyStage(format_of(name))],
        main=block(),
        epilogue=[bias(half), SILU, Epilogue("scaled", "value * factor", {"factor": float})],
    )
    own = ["matrix", "scales", "x", "y", "params", "bias", "factor"]
    assert list(compound.arguments) == own
    assert compound.source.count("kernel void") == 1
    made = called(compound, name, 64, bias=SHIFT, factor=0.25)
    assert np.allclose(made, silu(expected(name) + SHIFT) / 4, rtol=1e-4, atol=1e-4)


def test_a_result_is_stored_by_the_entry_point() -> None:
    compound = Compound(
        "plain", prologue=[PolicyStage(format_of("q8_0"))], main=row(), epilogue=[RELU]
    )
    made = called(compound, "q8_0", 32)
    assert np.allclose(made, np.maximum(expected("q8_0"), 0), rtol=1e-4, atol=1e-4)


def test_epilogues_run_in_their_order() -> None:
    compound = Compound(
        "ordered",
        prologue=[PolicyStage(format_of("q8_0"))],
        main=row(),
        epilogue=[GELU, residual(float), Epilogue("scaled", "value * factor", {"factor": float})],
    )
    given = np.arange(ROWS, dtype=np.float32)
    made = called(compound, "q8_0", 32, residual=given, factor=0.5)
    sums = expected("q8_0").astype(np.float64)
    gelu = 0.5 * sums * (1 + np.tanh(0.7978845608 * (sums + 0.044715 * sums**3)))
    assert np.allclose(made, (gelu + given) * 0.5, rtol=1e-4, atol=1e-4)


def policy() -> PolicyStage:
    return PolicyStage(format_of("q8_0"))


AT = r" \(\S*test_compound\.py:\d+\)"
"""Where a stage or kernel was declared."""
INSIDE = BLOCK.replace("partial[lid.x] =", "threadgroup float more[8];\n    partial[lid.x] =")


# A function that the template calls; kernels of a source may have memory of their own.
HELPED = (
    """
kernel void alone(device float* x [[buffer(0)]]) { threadgroup float own[4]; own[0] = x[0]; }
void helper() { threadgroup atomic_uint more[8]; }
"""
    + BLOCK
)


class Preparing:
    """A hand-written stage with threadgroup memory."""

    name = "preparing"
    arguments: ClassVar = {}
    threadgroup = (ThreadgroupArray("float", "prepared", 4),)

    def text(self, included: object) -> str:
        return ""

    def emit(self, variable: str | None) -> Emitted:
        return Emitted(())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: {"prologue": []},
            rf"k{AT}: no stage provides gemv{AT} with a policy \[stage-policy\]",
        ),
        (
            lambda: {"prologue": [policy(), policy()]},
            rf"policy q8_0{AT} and policy q8_0{AT} both have an argument matrix \[stage-buffers\]",
        ),
        (
            lambda: {"main": block(skip=["y"])},
            rf"k{AT}: none of its stages has an output: policy q8_0{AT}, gemv{AT} \[stage-output\]",
        ),
        (
            lambda: {"main": block(threadgroup="float partial[8193]")},
            rf"k{AT}: its .* 32772 bytes of threadgroup memory, partial 32772 of gemv{AT}; a thr",
        ),
        (
            lambda: {"main": block(threadgroup="float* partial")},
            rf"gemv{AT}: 'float\* partial' is no threadgroup memory",
        ),
        (
            lambda: {"main": TemplateStage(INSIDE, "gemv", OWN, with_epilogue=True)},
            rf"gemv{AT}: gemv\.metal:7 declares threadgroup memory more inside the function",
        ),
        (
            lambda: {"main": TemplateStage(DOT + HELPED, "gemv", OWN, with_epilogue=True)},
            rf"gemv{AT}: gemv\.metal:17 declares threadgroup memory more inside the function",
        ),
        (
            lambda: {
                "prologue": [policy(), Preparing()],
                "main": block(threadgroup="float partial[64]; float prepared[4]"),
            },
            rf"preparing{AT} and gemv{AT} both have threadgroup memory prepared",
        ),
        (
            lambda: {"epilogue": [Epilogue("e", "value", {"lane": float})]},
            rf"k{AT}: e{AT}: 'lane' is taken by the kernel's own arguments \[kernel-name\]",
        ),
        (
            lambda: {"epilogue": [Epilogue("e", "value", {"half": float})]},
            r"'half' is reserved in MSL",
        ),
        (lambda: {"epilogue": [Epilogue("e e", "value")]}, r"'e e' is no name.*\[kernel-name\]"),
        (
            lambda: {"main": block(threadgroup="float x[64]")},
            rf"k{AT}: x is an argument of gemv{AT}, and threadgroup memory of gemv{AT}",
        ),
        (
            lambda: {"main": TemplateStage(DOT, "gone", OWN)},
            rf"gone{AT}: the source has no function gone \[stage-function\]",
        ),
        (
            lambda: {"main": block(with_epilogue=False), "epilogue": [SILU]},
            r"silu: the stage in front of it returns nothing",
        ),
        (
            lambda: {
                "epilogue": [
                    Epilogue(f"e{i}", f"value + b{i}[at]", {f"b{i}": tensor(float)})
                    for i in range(28)
                ]
            },
            rf"k{AT}: its stages have 33 buffers, matrix, .* at most 31 \[stage-buffers\]",
        ),
        (
            lambda: {"epilogue": [Epilogue("e", "value", {"x": tensor(float)})]},
            rf"gemv{AT} and e{AT} both have an argument x",
        ),
        (
            lambda: {"epilogue": [Epilogue("e", "value", {"z": output(float, "x")})]},
            rf"e{AT}: an epilogue has no output of its own",
        ),
    ],
)
def test_stages_that_break_a_rule_are_refused_by_its_name(make: Any, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        Compound("k", **{"prologue": [policy()], "main": block(), **make()})


class GateAndUp:
    """A hand-written stage: two products of the same input, each with weights of its own."""

    name = "gate_and_up"
    arguments: ClassVar = {
        "w_gate": tensor(uchar),
        "s_gate": tensor(uchar),
        "w_up": tensor(uchar),
        "s_up": tensor(uchar),
        "x": tensor(float),
        "y": OWN["y"],
        "params": argument_of(GemvParams, "params"),
    }
    threadgroup = ()
    result = None
    with_epilogue = True

    def text(self, included: object) -> str:
        return "\n".join([PRELUDE, format_of("q4_0_split").text, DOT])

    def emit(self, variable: str | None) -> Emitted:
        dots = (
            f"float {name} = simd_sum(dot<PolicyQ4_0_SPLIT>(w_{name}, s_{name}, x, params, gid.x, "
            "lane, 32));"
            for name in ("gate", "up")
        )
        store = "if (lane == 0) { y[gid.x] = epilogue(gate / (1 + exp(-gate)) * up, gid.x); }"
        return Emitted((*dots, store))


class Halved:
    """A hand-written prologue: half of each number, for the stage behind it."""

    name = "halved"
    arguments: ClassVar = {"x": tensor(float)}
    threadgroup = ()

    def text(self, included: object) -> str:
        return ""

    def emit(self, variable: str | None) -> Emitted:
        taken = variable or "x[gid.x * tptg.x + lid.x]"
        name = f"{variable or ''}halved"
        return Emitted((f"const float {name} = {taken} / 2;",), name)


class Squared:
    """A hand-written main stage, whose result the entry point stores."""

    name = "squared"
    arguments: ClassVar = {"y": output(float, "x")}
    threadgroup = ()
    result = Result()
    with_epilogue = False

    def text(self, included: object) -> str:
        return ""

    def emit(self, variable: str | None) -> Emitted:
        return Emitted((f"float square = {variable} * {variable};",), "square")


class Again(Halved):
    """The same once more."""

    arguments: ClassVar = {}


def test_each_stage_takes_what_the_one_in_front_of_it_gives() -> None:
    compound = Compound("chain", prologue=[Halved(), Again()], main=Squared(), epilogue=[RELU])
    x = np.arange(64, dtype=np.float32)
    kernel = Kernel(compound, grid=per_element("x", threads=32))
    assert np.array_equal(kernel(x=x), (x / 4) ** 2)
    assert [each.name for each in compound.stages] == ["halved", "halved", "squared", "relu"]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            {"prologue": [policy(), row()], "main": block()},
            rf"row_sum{AT} is a main stage, and so is gemv{AT}; a kernel has one \[stage-main\]",
        ),
        (
            {"prologue": [Squared()], "main": Squared()},
            rf"squared{AT} is a main stage, and so is squared{AT}",
        ),
        ({"main": policy()}, rf"policy q8_0{AT} is no main stage \[stage-main\]"),
        ({"main": SILU}, r"silu is no main stage"),
    ],
)
def test_a_kernel_has_one_main_stage(stages: Any, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        Compound("k", **stages)


@pytest.mark.parametrize(
    ("name", "message"),
    [("two words", "'two words' is no name"), ("kernel", "'kernel' is reserved"), ("", "'' is no")],
)
def test_a_kernel_has_a_name_that_msl_takes(name: str, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        Compound(name, prologue=[policy()], main=block())


def test_policy_and_epilogues_of_a_kernel_can_be_read() -> None:
    compound = Compound("k", prologue=[policy()], main=block(), epilogue=[SILU])
    first, _, last = compound.stages
    assert isinstance(first, PolicyStage) and first.weights is format_of("q8_0")
    assert last is SILU


def test_a_template_without_arguments_of_its_own_is_called_right() -> None:
    source = (
        "template <typename Policy> void idle(const device uchar* matrix, "
        "const device uchar* scales, uint3 gid, uint3 lid) {}"
    )
    first = [PolicyStage(format_of("f32")), TemplateStage(source, "idle", {}), Halved()]
    compound = Compound("k", prologue=first, main=Squared())
    assert "idle<Policy>(matrix, scales, gid, lid);" in compound.source
    x, byte = np.arange(64, dtype=np.float32), np.zeros(1, np.uint8)
    kernel = Kernel(compound, grid=per_element("x", threads=32))
    assert np.array_equal(kernel(matrix=byte, scales=byte, x=x), (x / 2) ** 2)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (("simd_sum(dot", "simd_sum(dots"), r"row_sum\.metal:\d+"),
        (("gid.x, lid.x, 32));", "gid.x, lid.x, 32);"), r"row_sum\.metal:\d+"),
        (("float sum = 0;", "float sum = 0; {"), r"row_sum\.metal:\d+"),
        (("return sum;", "return {sum};;}"), r"row_sum\.metal:\d+"),
    ],
)
def test_names_that_are_not_there_and_brackets_that_stay_open_are_errors_at_their_line(
    damage: tuple[str, str], said: str
) -> None:
    source = (DOT + ROW).replace(*damage)
    with pytest.raises((FoundryError, CompileError), match=said):
        stage = TemplateStage(source, "row_sum", OWN, result=Result(at="gid.x", when="lid.x == 0"))
        _ = Compound("k", prologue=[policy()], main=stage).library


def test_a_hand_written_stage_has_its_own_buffers_and_lines() -> None:
    compound = Compound("swiglu", main=GateAndUp(), epilogue=[RELU])
    assert list(compound.arguments)[:4] == ["w_gate", "s_gate", "w_up", "s_up"]
    weights = format_of("q4_0_split")
    gate, up = weights.pack(WEIGHTS), weights.pack(WEIGHTS[::-1])
    kernel = Kernel(compound, grid=custom(lambda given: (given["params"].rows,), (32,)))
    given = {
        "w_gate": gate.matrix,
        "s_gate": gate.scales,
        "w_up": up.matrix,
        "s_up": up.scales,
        "x": X,
        "params": GemvParams(rows=ROWS, columns=COLUMNS),
    }
    wanted = silu(weights.unpack(gate) @ X) * (weights.unpack(up) @ X)
    assert np.allclose(kernel(**given), np.maximum(wanted, 0), rtol=1e-4, atol=1e-4)
    assert not kernel.check(**given).findings


def test_what_a_module_of_the_package_makes_has_no_caller_whoever_imports_it() -> None:
    code = "from assay.compiler.foundry.kernels.callers import line_of_caller as of\nfound = of()"
    for name, expected in (("assay.some.library", ""), ("somebody", "made.py:2")):
        module = {"__name__": name}
        exec(compile(code, "made.py", "exec"), module)
        assert module["found"] == expected
