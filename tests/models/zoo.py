"""The models that everything is tried on: where each lies, its inputs, and how exact it must be."""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from . import importable

MLIR = Path(__file__).parent / "mlir"

# f32 kernels differ from the CPU's in the polynomials chosen for exp, tanh and the like, in
# contraction to fma and in the order of sums; 2e-4 holds for all of them.
F32_RELATIVE = 2e-4
F32_ABSOLUTE = 2e-5

DTYPES: Mapping[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "f64": np.float32,  # IREE demotes f64 to f32, in public signatures too
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}

Argument = np.ndarray | int | float
Generator = np.random.Generator


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """One model: a file, one of its functions, inputs and the agreement that is asked for."""

    name: str
    file: str = ""
    """File name below `mlir/`, or of a file that `importable` builds; `name`.mlir if empty."""
    function: str = "main"
    inputs: tuple[Callable[[Generator], Argument] | Argument, ...] | None = None
    """Makers of the inputs; None reads the types off the `.mlir` text and fills them randomly."""
    relative: float = F32_RELATIVE
    absolute: float = F32_ABSOLUTE
    reason: str = ""
    """Why the tolerance is wider than the usual one."""
    calls: int = 1
    """How often it is called in a row, results of all calls compared (state is kept)."""
    works_around: str = ""
    """Name of the defect of the compiler that compiling it must get round."""
    refused: str = ""
    """Text of the compiler's refusal, for models that IREE cannot compile for Metal."""
    reference: Callable[..., list[Any]] | None = field(default=None, compare=False)
    """NumPy in place of the CPU build, where the CPU build does not link."""
    flags: tuple[str, ...] = ()
    """Flags for `iree-compile` that the model cannot do without."""
    parameters: Mapping[str, Callable[[Path], Path]] = field(default_factory=dict, compare=False)
    """Scope to a maker of the parameter file in a folder."""

    def source(self, folder: Path) -> Path:
        """The model file; files that are built at test time are built in `folder`."""
        file = self.file or f"{self.name}.mlir"
        if file in importable.BUILDERS:
            path = folder / file
            if not path.exists():
                importable.BUILDERS[file](path)
            return path
        return MLIR / file

    def arguments(self) -> list[Argument]:
        """The inputs, the same ones in every run."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        if self.inputs is not None:
            return [make(random) if callable(make) else make for make in self.inputs]
        return [random_argument(text, random) for text in signature(self.file or self.name)]


@cache
def signature(name: str) -> tuple[str, ...]:
    """The argument types of `@main` in a `.mlir` file, as written."""
    text = (MLIR / f"{name.removesuffix('.mlir')}.mlir").read_text()
    match = re.search(r"func\.func (?:public )?@main\((.*?)\)\s*->", text, re.DOTALL)
    assert match is not None, name
    return tuple(re.findall(r"%\w+: ((?:tensor<[^>]*>)|\w+)", match[1]))


def random_argument(text: str, random: Generator) -> Argument:
    """Random contents for a type such as `tensor<4x4xf32>` or `f32`."""
    if not text.startswith("tensor<"):
        return int(random.integers(1, 9)) if text.startswith("i") else float(random.uniform(0, 1))
    *shape, element = text[len("tensor<") : -1].split("x")
    return tensor(*map(int, shape), element=element)(random)


def tensor(*shape: int, element: str = "f32", low: float = -100, high: float = 100) -> Any:
    """A maker of tensors: floats are normal, integers uniform in [low, high)."""

    def make(random: Generator) -> np.ndarray:
        dtype = DTYPES[element]
        if element == "i1":
            return random.integers(0, 2, shape).astype(dtype)
        if element.startswith("i"):
            return random.integers(int(low), int(high), shape).astype(dtype)
        return random.standard_normal(shape).astype(dtype)

    return make


def scaled(factor: float, *shape: int) -> Any:
    """A maker of normal f32 tensors of a given deviation."""
    return lambda random: (random.standard_normal(shape) * factor).astype(np.float32)


def positive(*shape: int) -> Any:
    """A maker of f32 tensors in (0.1, 3)."""
    return lambda random: random.uniform(0.1, 3, shape).astype(np.float32)


def nonzero(*shape: int) -> Any:
    """A maker of i32 tensors without zeros."""
    return lambda random: (random.integers(1, 50, shape) * random.choice([-1, 1], shape)).astype(
        np.int32
    )


def distinct(count: int, below: int, *shape: int) -> Any:
    """A maker of `count` different i32 indices below `below`."""
    return lambda random: (
        random.permutation(below)[:count].astype(np.int32).reshape(shape or (count,))
    )


def _integers(name: str, **more: Any) -> Model:
    """A model whose results must be equal to the last bit."""
    return Model(name=name, relative=0.0, absolute=0.0, **more)


HALF_SUM = {
    "relative": 2e-2,
    "absolute": 5e-2,
    "reason": "sums of half products are rounded to half after every step, in another order",
}

MODELS: tuple[Model, ...] = (
    Model(name="matmul_f32"),
    Model(name="matmul_f32_large", absolute=2e-4, reason="512 terms that cancel"),
    Model(name="matmul_f32_odd"),
    Model(name="matmul_f16", **HALF_SUM),
    Model(name="matmul_f16_f32"),
    _integers("matmul_i8"),
    _integers("matmul_i8_dot", works_around="dot-product"),
    Model(name="matmul_f64"),
    _integers("quantized_matmul", works_around="dot-product"),
    Model(name="batch_matmul"),
    Model(name="matvec"),
    Model(name="conv_nchw"),
    Model(name="conv_nhwc"),
    Model(name="conv_depthwise"),
    _integers("conv_i8"),
    Model(name="maxpool", relative=0.0, absolute=0.0),
    Model(name="avgpool"),
    Model(name="softmax"),
    Model(name="reduce_rows"),
    Model(name="reduce_columns"),
    Model(name="reduce_all", absolute=1e-4, reason="4096 terms that cancel"),
    Model(name="reduce_max", relative=0.0, absolute=0.0),
    Model(name="reduce_f16", **HALF_SUM),
    _integers("reduce_i32"),
    _integers("reduce_i64"),
    Model(name="argmax", relative=0.0, absolute=0.0),
    Model(name="attention_decomposed"),
    Model(name="attention_f32", works_around="attention"),
    Model(
        name="attention_f16",
        works_around="attention",
        relative=1e-2,
        absolute=5e-3,
        reason="half weights and accumulators, rounded at other places",
    ),
    Model(name="layernorm"),
    Model(name="gather", inputs=(tensor(32, 16), tensor(8, element="i32", low=0, high=32))),
    Model(
        name="scatter",
        inputs=(tensor(16, 8), distinct(4, 16, 4, 1), tensor(4, 8)),
        relative=0.0,
        absolute=0.0,
    ),
    Model(
        name="scatter_add",
        inputs=(tensor(16, 8), np.array([[3], [7], [3], [0]], np.int32), tensor(4, 8)),
    ),
    Model(name="sort", relative=0.0, absolute=0.0),
    Model(name="topk", relative=0.0, absolute=0.0),
    Model(name="scan"),
    Model(name="fft"),
    Model(name="transpose", relative=0.0, absolute=0.0),
    Model(name="pad", relative=0.0, absolute=0.0),
    Model(name="concat_slice", relative=0.0, absolute=0.0),
    Model(
        name="dynamic_update_slice",
        inputs=(tensor(16, 16), tensor(4, 4), np.array(7, np.int32)),
        relative=0.0,
        absolute=0.0,
    ),
    Model(name="resize", relative=0.0, absolute=0.0),
    Model(name="dynamic_add", inputs=(tensor(7, 33), tensor(7, 33)), relative=0.0, absolute=0.0),
    Model(name="dynamic_matmul", inputs=(tensor(19, 48), tensor(48, 26))),
    Model(name="dynamic_softmax", inputs=(tensor(11, 96),)),
    Model(name="while_counter", inputs=(tensor(16), 5)),
    Model(name="while_data", inputs=(lambda random: np.full(8, 1.5, np.float32),)),
    Model(name="if", inputs=(tensor(16), 1), relative=0.0, absolute=0.0),
    Model(name="if_else", file="if.mlir", inputs=(tensor(16), -1), relative=0.0, absolute=0.0),
    Model(name="mlp"),
    Model(name="constants"),
    Model(
        name="parameters",
        parameters={"model": lambda folder: importable.parameter_archive(folder)},
    ),
    Model(name="globals", calls=3, relative=0.0, absolute=0.0),
    Model(name="math_zoo", inputs=(positive(64),)),
    Model(
        name="math_log10_trunc",
        inputs=(positive(64),),
        reference=lambda x: [np.log10(x), np.trunc(x)],
    ),
    _integers("elementwise_i64"),
    _integers("elementwise_i32", inputs=(nonzero(64), nonzero(64))),
    _integers("elementwise_i16"),
    _integers("elementwise_i8"),
    _integers("elementwise_i1"),
    Model(
        name="elementwise_f16",
        relative=2e-3,
        absolute=1e-3,
        reason="the product may or may not be rounded to half before the sum (fma)",
    ),
    Model(
        name="elementwise_bf16",
        relative=1.6e-2,
        absolute=1e-2,
        reason="the product may or may not be rounded to bfloat16 before the sum",
    ),
    _integers("bits_i32"),
    Model(name="casts", relative=1e-6, absolute=0.0),
    Model(name="scalars", inputs=(tensor(4), 7, 1 << 40, 2.5)),
    Model(name="tosa"),
    Model(name="tosa_elementwise"),
    Model(name="stablehlo"),
    Model(name="stablehlo_conv"),
    Model(name="fori_loop", inputs=(scaled(0.5, 8, 8),)),
    Model(
        name="stablehlo_block",
        inputs=(
            tensor(16, 32),
            *(scaled(1.0, 32) for _ in range(2)),
            *(scaled(0.2, 32, 32) for _ in range(3)),
            scaled(0.2, 32, 64),
            scaled(0.2, 64, 32),
        ),
    ),
    Model(
        name="jax_block",
        inputs=(
            tensor(16, 32),
            *(scaled(1.0, 32) for _ in range(2)),
            *(scaled(0.2, 32, 32) for _ in range(4)),
            scaled(0.2, 32, 64),
            scaled(0.2, 64, 32),
        ),
    ),
    Model(name="jax_loop", inputs=(scaled(0.5, 8, 8),)),
    Model(
        name="jax_random",
        inputs=(np.array(7, np.int32),),
        relative=0.0,
        absolute=0.0,
    ),
    Model(
        name="jax_normal",
        inputs=(np.array(7, np.int32),),
        flags=("--iree-hal-indirect-command-buffers=false",),
    ),
    Model(
        name="two_exports_double",
        file="two_exports.mlir",
        function="double",
        inputs=(tensor(16),),
        relative=0.0,
        absolute=0.0,
    ),
    Model(
        name="two_exports_scale",
        file="two_exports.mlir",
        function="scale",
        inputs=(tensor(16), 2.5),
        relative=0.0,
        absolute=0.0,
    ),
    Model(name="onnx_cnn", file="cnn.onnx", function="cnn", inputs=(tensor(1, 3, 16, 16),)),
    Model(
        name="onnx_transformer",
        file="transformer.onnx",
        function="transformer",
        inputs=(tensor(3, 12, 32),),
    ),
    Model(
        name="onnx_quantized_matmul",
        file="quantized_matmul.onnx",
        function="quantized_matmul",
        inputs=(tensor(8, 32),),
        works_around="dot-product",
    ),
    Model(
        name="tflite_int8_cnn",
        file="int8_cnn.tflite",
        inputs=(tensor(1, 8, 8, 4, element="i8", low=-128, high=128),),
        works_around="dot-product",
        relative=0.0,
        absolute=0.0,
    ),
)
"""Every model that compiles for Metal, with a work-around where one is named."""

REFUSED: tuple[Model, ...] = (
    Model(name="divide_unsigned", refused="unsigned division"),
    Model(name="matmul_bf16_f32", refused="bfloat16 matrix products"),
    Model(name="gather_op", refused="iree_linalg_ext.gather"),
    Model(name="ipowi", refused="integer powers"),
    Model(name="ctlz_i8", refused="math.ctlz"),
)
"""Models that IREE cannot compile for Metal, with what Assay says of them."""


def find(name: str) -> Model:
    """A model by its name."""
    return next(model for model in (*MODELS, *REFUSED) if model.name == name)
