"""linalg text compiled for the NPU, run on it, and beside that by its definition in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.graph.elements import NUMPY
from assay.compiler.graph.mlir import read_module
from assay.compiler.graph.tosa import ops
from assay.compiler.torq.hl.dialect import hl_context
from assay.compiler.torq.hl.interpret import interpreted
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.schedule.compile import program_for
from assay.hal.torq.pack import pack
from assay.hal.torq.write import write_executable
from assay.npu import load_npu

Array = NDArray[Any]


def on_npu(text: str, inputs: Sequence[Array]) -> Array:
    """The one result of a function on the emulated NPU; it equals its definition to the bit."""
    module = read_module(text.encode(), "test", hl_context())
    (defined,) = interpreted(ops.functions(module)[0], inputs)
    made = result_on_npu(text, inputs)
    same(made, defined)
    return made


def same(got: Array, expected: Array) -> None:
    """Numbers of one type are equal; a NaN equals another one."""
    assert got.dtype == expected.dtype
    floats = got.dtype.kind not in "iub"
    pair = [x.astype(np.float32) if floats else x for x in (got, expected)]
    np.testing.assert_array_equal(*pair)


def result_on_npu(text: str, inputs: Sequence[Array]) -> Array:
    """The one result of a function on the emulated NPU; it equals what TorqHL defines."""
    module = read_module(text.encode(), "test", hl_context())
    run_passes(module, usual_passes(), source="test")
    (meant,) = interpreted(ops.functions(module)[0], inputs)
    executable = write_executable(pack(program_for(module), "test"))
    stored = [x.astype(np.int8) if x.dtype == np.bool_ else x for x in inputs]
    (got,) = load_npu(executable).find(None).invoke(stored)
    made = np.asarray(got).astype(meant.dtype).reshape(meant.shape)
    same(made, meant)
    return made


def ways(text: str) -> set[str]:
    """How the operators of a function go to the NPU."""
    module = read_module(text.encode(), "test", hl_context())
    run_passes(module, usual_passes("legalise-tosa"), source="test")
    return {str(op.attributes["way"].data) for op in module.walk() if "way" in op.attributes}  # type: ignore[attr-defined]


def on_cpu(text: str, inputs: Sequence[Array], folder: Path) -> Array:
    """The one result on IREE's CPU backend."""
    from assay.compiler.models import compile_model
    from assay.reference import CpuModule

    source = folder / "test.mlir"
    source.write_text(text)
    (result,) = CpuModule(compile_model(source, target="llvm-cpu").data).invoke(
        "main", list(inputs)
    )
    return np.asarray(result)


def elementwise(body: str, arguments: Sequence[str], shape: Sequence[int], result: str) -> str:
    """A function of a linalg.generic over tensors of one shape; the body yields %y."""
    rank = len(shape)
    loops = ", ".join(f"d{n}" for n in range(rank))
    sizes = "".join(f"{n}x" for n in shape)
    same = f"affine_map<({loops}) -> ({loops})>"
    kinds = ", ".join(['"parallel"'] * rank)
    given = ", ".join(f"%a{n}: tensor<{sizes}{kind}>" for n, kind in enumerate(arguments))
    tensors = ", ".join(f"tensor<{sizes}{kind}>" for kind in arguments)
    values = ", ".join(f"%a{n}" for n in range(len(arguments)))
    inside = ", ".join(f"%x{n}: {kind}" for n, kind in enumerate(arguments))
    y = f"tensor<{sizes}{result}>"
    return f"""func.func @main({given}) -> {y} {{
  %empty = tensor.empty() : {y}
  %made = linalg.generic {{indexing_maps = [{", ".join([same] * (len(arguments) + 1))}],
      iterator_types = [{kinds}]}} ins({values} : {tensors}) outs(%empty : {y}) {{
  ^bb0({inside}, %out: {result}):
{body}
    linalg.yield %y : {result}
  }} -> {y}
  return %made : {y}
}}"""


def integers(seed: int, shape: Sequence[int], dtype: str) -> Array:
    """Numbers of the whole range of a type."""
    limits = np.iinfo(NUMPY[dtype])
    random = np.random.default_rng(seed)
    return random.integers(limits.min, limits.max, shape, NUMPY[dtype], endpoint=True)
