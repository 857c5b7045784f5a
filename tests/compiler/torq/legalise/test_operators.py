"""Single operators of TOSA on the NPU: results, and how they are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import assay
from assay.compiler.models import compile_model
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.elementwise import Elementwise, Mul
from assay.compiler.torq.hl.types import tensor_of
from assay.compiler.torq.passes.load import load
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.npu import compile_executable
from assay.reference import CpuModule, run_by_tosa
from tests.compiler.graph import models

pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def function(arguments: str, result: str, *lines: str) -> str:
    """A function whose last value is %y."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %y : {result}\n}}\n"


def constant(name: str, kind: str, value: str) -> str:
    return f'%{name} = "tosa.const"() <{{values = dense<{value}> : {kind}}}> : () -> {kind}'


def unary(operator: str, source: str, target: str, attributes: str = "") -> str:
    return function(
        f"%x: {source}", target, f'%y = "tosa.{operator}"(%x) {attributes} : ({source}) -> {target}'
    )


def pool(operator: str, source: str, target: str, kernel: str, stride: str, pad: str) -> str:
    attributes = (
        f"{{kernel = array<i64: {kernel}>, stride = array<i64: {stride}>, pad = array<i64: {pad}>}}"
    )
    if operator == "max_pool2d":
        return unary(operator, source, target, attributes)
    zero = constant("z", "tensor<1xi8>", "0")
    call = f'%y = "tosa.avg_pool2d"(%x, %z, %z) {attributes[:-1]}, acc_type = i32}}'
    types = f"({source}, tensor<1xi8>, tensor<1xi8>) -> {target}"
    return function(f"%x: {source}", target, zero, f"{call} : {types}")


SIGNED = "input_unsigned = false, output_unsigned = false"


def scaled(
    x: str, y: str, types: tuple[str, str], by: tuple[int, int], zeros: tuple[int, int], signs: str
) -> list[str]:
    """%y is %x by a multiplier and a shift."""
    kinds = [text.split("x")[-1].rstrip(">").removeprefix("u") for text in types]
    points = [f"tensor<1x{kind}>" for kind in kinds]
    attributes = (
        f"{signs}, per_channel = false, rounding_mode = "
        "#tosa.rounding_mode<SINGLE_ROUND>, scale32 = true"
    )
    operands = f"{types[0]}, tensor<1xi32>, tensor<1xi8>, {points[0]}, {points[1]}"
    names = [f"{y}_{name}" for name in ("by", "shift", "from", "to")]
    return [
        constant(names[0], "tensor<1xi32>", str(by[0])),
        constant(names[1], "tensor<1xi8>", str(by[1])),
        constant(names[2], points[0], str(zeros[0])),
        constant(names[3], points[1], str(zeros[1])),
        f'%{y} = "tosa.rescale"(%{x}, %{", %".join(names)}) <{{{attributes}}}> '
        f": ({operands}) -> {types[1]}",
    ]


def rescale(source: str, target: str, points: tuple[int, int], unsigned: str) -> str:
    lines = scaled("x", "y", (source, target), (1610612736, 31), points, unsigned)
    return function(f"%x: {source}", target, *lines)


MATMUL = function(
    "%a: tensor<1x5x12xi8>, %b: tensor<1x12x7xi8>",
    "tensor<1x5x7xi16>",
    constant("z", "tensor<1xi8>", "0"),
    '%y = "tosa.matmul"(%a, %b, %z, %z) : (tensor<1x5x12xi8>, tensor<1x12x7xi8>, '
    "tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x7xi16>",
)


def binary(operator: str, kinds: tuple[str, str], target: str) -> str:
    more, types = ("", "") if operator != "mul" else (", %s", ", tensor<1xi8>")
    return function(
        f"%a: {kinds[0]}, %b: {kinds[1]}",
        target,
        constant("s", "tensor<1xi8>", "0"),
        f'%y = "tosa.{operator}"(%a, %b{more}) : ({kinds[0]}, {kinds[1]}{types}) -> {target}',
    )


WORDS = "tensor<3x50xi32>"
CASES = {
    "a sum of 32 bits wraps around": binary("add", (WORDS, WORDS), WORDS),
    "a difference of 32 bits wraps around": binary("sub", (WORDS, "tensor<3x1xi32>"), WORDS),
    "a product of 32 bits wraps around": binary("mul", (WORDS, WORDS), WORDS),
    "a cast to fewer bits cuts": unary("cast", "tensor<3x70xi16>", "tensor<3x70xi8>"),
    "a cast from 32 to 8 bits cuts": unary("cast", "tensor<2x3x5xi32>", "tensor<2x3x5xi8>"),
    "a cast from 32 to 16 bits cuts": unary("cast", "tensor<129xi32>", "tensor<129xi16>"),
    "truth becomes a number": unary("cast", "tensor<4x9xi1>", "tensor<4x9xi16>"),
    "a product of bytes is cut to 16 bits": MATMUL,
    "unsigned bytes are scaled": rescale(
        "tensor<2x40xui8>",
        "tensor<2x40xi8>",
        (-128, 3),
        "input_unsigned = true, output_unsigned = false",
    ),
    "bytes are scaled to unsigned ones": rescale(
        "tensor<2x40xi8>",
        "tensor<2x40xui8>",
        (3, -128),
        "input_unsigned = false, output_unsigned = true",
    ),
    "truth is a result": function(
        "%a: tensor<4x20xi32>, %b: tensor<4x20xi32>",
        "tensor<4x20xi1>",
        '%y = "tosa.greater"(%a, %b) : (tensor<4x20xi32>, tensor<4x20xi32>) -> tensor<4x20xi1>',
    ),
    "a tensor has no dimension": function(
        "%a: tensor<i32>, %b: tensor<i32>",
        "tensor<i32>",
        '%y = "tosa.maximum"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>',
    ),
    "a constant is the result": function(
        "%x: tensor<3xi8>",
        "tensor<2x3xi8>",
        constant("y", "tensor<2x3xi8>", "[[1, -2, 3], [4, -5, 6]]"),
    ),
    "a large window is pooled": pool(
        "max_pool2d", "tensor<1x11x11x4xi8>", "tensor<1x3x3x4xi8>", "7, 7", "2, 2", "0, 0, 0, 0"
    ),
    "a large window without padding": pool(
        "max_pool2d", "tensor<1x9x10x4xi8>", "tensor<1x3x4x4xi8>", "7, 7", "1, 1", "0, 0, 0, 0"
    ),
    "windows lie four rows apart": pool(
        "max_pool2d", "tensor<1x16x4x9xi16>", "tensor<1x4x4x9xi16>", "4, 1", "4, 1", "0, 0, 0, 0"
    ),
    "the mean of a whole plane": pool(
        "avg_pool2d", "tensor<1x7x7x20xi8>", "tensor<1x1x1x20xi8>", "7, 7", "1, 1", "0, 0, 0, 0"
    ),
    "means of an odd plane with stride 2": pool(
        "avg_pool2d", "tensor<1x7x9x5xi8>", "tensor<1x3x4x5xi8>", "3, 3", "2, 2", "0, 0, 0, 0"
    ),
}


def product_of_quantised(kind: str, zeros: tuple[int, int]) -> str:
    """What converters make of a quantised MUL: zero points are taken away in 32 bits."""
    shape = "tensor<1x6x5x8x"
    few, many = f"{shape}{kind}>", f"{shape}i32>"
    return function(
        f"%a: {few}, %b: {few}",
        few,
        *scaled("a", "p", (few, many), (1 << 30, 30), (zeros[0], 0), SIGNED),
        *scaled("b", "q", (few, many), (1 << 30, 30), (zeros[1], 0), SIGNED),
        constant("s", "tensor<1xi8>", "0"),
        f'%r = "tosa.mul"(%p, %q, %s) : ({many}, {many}, tensor<1xi8>) -> {many}',
        *scaled("r", "y", (many, few), (1518500250, 38), (0, zeros[0]), SIGNED),
    )


QUANTISED = {"i8": (-26, -128), "i16": (0, 0)}


def saved(text: str, folder: Path) -> Path:
    path = folder / "model.mlir"
    path.write_text(text)
    return path


CASES |= {
    f"quantised {kind} are multiplied": product_of_quantised(kind, zeros)
    for kind, zeros in QUANTISED.items()
}


def inputs(signature: Any) -> list[NDArray[Any]]:
    from assay.seeds import seeded_inputs

    return [np.asarray(value) for value in seeded_inputs(signature, 3, quantised=True)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in CASES.items()])
def test_an_operator_gives_what_tosa_and_iree_give(text: str, tmp_path: Path) -> None:
    path = saved(text, tmp_path)
    (loaded,) = assay.load(path, device="torq").functions.values()
    given = inputs(loaded.signature)
    (found,) = loaded.invoke(given)
    for (expected,) in (
        run_by_tosa(path, given),
        CpuModule(compile_model(path, target="llvm-cpu").data).invoke("main", given),
    ):
        wanted = np.asarray(expected)
        if wanted.dtype == np.uint8:  # of which executables know nothing
            wanted = wanted.view(np.int8)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", QUANTISED)
def test_a_product_of_quantised_tensors_is_one_product_of_few_bits(
    kind: str, tmp_path: Path
) -> None:
    module = load(saved(product_of_quantised(kind, QUANTISED[kind]), tmp_path), None)
    run_passes(module, usual_passes())
    (product,) = [op for op in module.walk() if isinstance(op, Mul)]
    assert tensor_of(product.a).dtype == tensor_of(product.b).dtype == "int16"
    assert product.field("rescale") is not None
    assert not any(isinstance(op, Elementwise) for op in module.walk())


def test_what_follows_an_operator_that_cannot_be_done_is_not_blamed(tmp_path: Path) -> None:
    text = function(
        "%x: tensor<2x4xf32>",
        "tensor<8xf32>",
        "%0 = tosa.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>",
        "%1 = tosa.abs %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>",
        "%s = tosa.const_shape {values = dense<8> : tensor<1xindex>} : () -> !tosa.shape<1>",
        "%y = tosa.reshape %1, %s : (tensor<2x4xf32>, !tosa.shape<1>) -> tensor<8xf32>",
    )
    with pytest.raises(ModelError) as error:
        compile_executable(saved(text, tmp_path))
    (line,) = str(error.value).splitlines()[1:]
    assert line == "  tosa.exp at line 2, column 8: the NPU does not compute with float32"


def test_what_follows_an_operator_that_is_not_known_is_not_blamed(tmp_path: Path) -> None:
    text = function(
        "%x: tensor<6xi8>",
        "tensor<3xi8>",
        '%0 = "mine.own"(%x) : (tensor<6xi8>) -> tensor<3xi8>',
        "%1 = tosa.abs %0 : (tensor<3xi8>) -> tensor<3xi8>",
        '%y = "tosa.maximum"(%0, %1) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>',
    )
    with pytest.raises(ModelError) as error:
        compile_executable(saved(text, tmp_path))
    assert "mine.own" in str(error.value) and "maximum" not in str(error.value)
