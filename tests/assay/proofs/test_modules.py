"""Proofs of modules whose functions cannot all be run."""

from pathlib import Path

import pytest

import assay

pytest.importorskip("iree.compiler")

TWO = """\
func.func @double(%a: tensor<64xf32>) -> tensor<64xf32> {
  %sum = arith.addf %a, %a : tensor<64xf32>
  return %sum : tensor<64xf32>
}
func.func @other(%a: tensor<32xf32>, %b: !util.buffer) -> (tensor<32xf32>, !util.buffer) {
  %product = arith.mulf %a, %a : tensor<32xf32>
  return %product, %b : tensor<32xf32>, !util.buffer
}
"""
BRANCH = """\
func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0 : index
  %large = arith.constant 1.0e30 : f32
  %first = tensor.extract %a[%zero] : tensor<64xf32>
  %is = arith.cmpf ogt, %first, %large : f32
  %result = scf.if %is -> tensor<64xf32> {
    %sum = arith.addf %a, %a : tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  } else {
    %product = arith.mulf %a, %a : tensor<64xf32>
    scf.yield %product : tensor<64xf32>
  }
  return %result : tensor<64xf32>
}
"""


def _module(folder: Path, text: str) -> Path:
    from assay.compiler.models import compile_model

    model = folder / "model.mlir"
    model.write_text(text)
    compile_model(model, model.with_suffix(".vmfb"))
    return model.with_suffix(".vmfb")


def test_a_function_that_cannot_be_run_is_told_and_so_are_its_kernels(tmp_path: Path) -> None:
    proofs = assay.prove(_module(tmp_path, TWO))
    double, kernel, function = proofs.kernels
    assert double.is_proved and not proofs.is_proved
    assert kernel.name.startswith("other_dispatch_0")
    assert "no function that was run launches it" in kernel.problem
    assert (function.name, function.noun) == ("other", "function")
    assert "function 'other': undecided: it was not run" in str(proofs)
    assert "no input1 can be made up (!util.buffer)" in str(proofs)
    assert str(proofs).endswith("2 kernels: 1 proved, 0 refuted, 1 undecided; 1 function not run")
    assert proofs.to_json()["kernels"][2]["noun"] == "function"


def test_a_kernel_that_no_run_launches_is_not_proved(tmp_path: Path) -> None:
    path = _module(tmp_path, BRANCH)
    proofs = assay.prove(path)
    launched = [each for each in proofs.kernels if each.is_proved]
    others = [each for each in proofs.kernels if not each.is_proved]
    assert launched and others
    assert all("launches it with the inputs that were tried" in each.problem for each in others)
    assert assay.prove(path, launched[0].name).is_proved
    assert not assay.prove(path, others[0].name).is_proved
