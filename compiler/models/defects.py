"""What IREE's Metal path cannot compile by itself: how it shows, what it means, what helps.

Seen with IREE 3.13. A defect with `flags` is worked around by compiling again with them;
one without is named, so that nobody looks for the fault in their model.
"""

from dataclasses import dataclass

TARGET_WITHOUT_DOT = (
    '#hal.device.target<"metal", [#hal.executable.target<"metal-spirv", "metal-msl-fb", '
    "{iree_codegen.target_info = #iree_gpu.target<"
    'arch = "apple", features = "spirv:v1.3,cap:Shader", '
    "wgp = <compute = fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, "
    "subgroup = shuffle|arithmetic, subgroup_size_choices = [32], "
    "max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024, "
    "max_workgroup_memory_bytes = 32768, max_workgroup_counts = [65535, 65535, 65535]>>}>]> "
    ": !hal.device"
)
"""IREE's default Metal target less its `dot = dp4xi8toi32`."""

DECOMPOSE_ATTENTION = (
    "builtin.module(util.func(iree-linalg-ext-convert-attention-to-online-attention,"
    "iree-linalg-ext-decompose-attention))"
)

_OTHER_NOTATION = "the text was written for another version of MLIR"


@dataclass(frozen=True, kw_only=True, slots=True)
class Defect:
    """One thing that IREE's compiler gets wrong for Metal."""

    name: str
    """A short name, stable, for machines."""
    shows_as: tuple[str, ...]
    """Texts that all stand in the compiler's output."""
    meaning: str
    """What is wrong, for people."""
    help: str
    """What is done about it, or what the user can do."""
    flags: tuple[str, ...] = ()
    """Flags that get round it; none when nothing does."""
    replaces: tuple[str, ...] = ()
    """Beginnings of flags that `flags` take the place of."""
    target: str = "metal"
    """The target whose compiler has it."""


DEFECTS: tuple[Defect, ...] = (
    Defect(
        name="dot-product",
        shows_as=("Capability 'DotProduct' requires min version v1.6",),
        meaning="IREE's default Metal target asks for an int8 dot product that its own "
        "SPIR-V version lacks",
        help="compiled for the same target without dot products; results are exact",
        flags=(f"--iree-hal-target-device={TARGET_WITHOUT_DOT}",),
        replaces=("--iree-hal-target-device=",),
    ),
    Defect(
        name="attention",
        shows_as=("'iree_linalg_ext.online_attention' op",),
        meaning="IREE has no Metal lowering for the attention operation as one kernel",
        help="attention was decomposed into matrix products and a softmax before compiling",
        flags=(f"--iree-preprocessing-pass-pipeline={DECOMPOSE_ATTENTION}",),
    ),
    Defect(
        name="unsigned-division",
        shows_as=("bitwidth emulation is not implemented yet on unsigned op",),
        meaning="IREE cannot compile unsigned division or remainder (arith.divui, arith.remui) "
        "for Metal",
        help="use signed division where the values allow it",
    ),
    Defect(
        name="bf16-accumulate",
        shows_as=("failed to legalize operation 'vector.bitcast'", "bf16"),
        meaning="IREE cannot compile bfloat16 matrix products with f32 accumulation for Metal",
        help="convert the operands to f32 or f16 before the product",
    ),
    Defect(
        name="gather",
        shows_as=("iree_linalg_ext.gather", "failed to get lowering configuration"),
        meaning="IREE has no Metal lowering for iree_linalg_ext.gather",
        help="write the gather as linalg.generic with tensor.extract",
    ),
    Defect(
        name="integer-power",
        shows_as=("math.ipowi",),
        meaning="IREE cannot compile integer powers (math.ipowi) for Metal",
        help="write the power as multiplications",
    ),
    Defect(
        name="leading-zeros",
        shows_as=("failed to legalize operation 'math.ctlz'",),
        meaning="IREE compiles math.ctlz for Metal on i32 only",
        help="extend the operand to i32 and subtract the difference in width",
    ),
    Defect(
        name="pack",
        shows_as=("op failed to tile to invocations",),
        meaning="IREE cannot tile an operation of this model for Metal (seen with linalg.pack and "
        "linalg.unpack)",
        help="use other inner tile sizes, or a reshape and a transpose",
    ),
    Defect(
        name="notation-of-properties",
        shows_as=("properties dictionary is missing required attribute",),
        meaning=_OTHER_NOTATION,
        help="write the attributes of that operation as <{...}>",
    ),
    Defect(
        name="notation-of-operation",
        shows_as=("error: custom op '", "' expected '"),
        meaning=_OTHER_NOTATION,
        help='write that operation in the generic form, "name"(operands) <{attributes}>',
    ),
    Defect(
        name="no-lowering",
        shows_as=("failed to get lowering configuration",),
        meaning="IREE has no Metal lowering for an operation of this model",
        help="the operation is named at the source line above; write it in simpler operations",
    ),
    Defect(
        name="cpu-link",
        shows_as=("iree-lld: error: undefined symbol",),
        meaning="IREE's CPU backend calls a C library function that it cannot link",
        help="compare with reference results instead (`--reference`)",
        target="llvm-cpu",
    ),
)


def find_defect(log: str, target: str) -> Defect | None:
    """The first known defect of a target that a compiler's output shows."""
    for defect in DEFECTS:
        if defect.target == target and all(text in log for text in defect.shows_as):
            return defect
    return None
