"""`assay foundry`: kernels of the library, listed, shown, and written for other programs."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
import ziglang

from assay.compiler.foundry.kernels import Standalone, output
from assay.compiler.foundry.kernels.host_header import host_header
from assay.compiler.foundry.library import KERNELS
from assay.compiler.foundry.structs import array, struct
from assay.compiler.foundry.structs.names import bfloat, float3, half, packed_float3, short, uchar
from assay.compiler.msl import compile_library
from assay.foundry.model import SMALL, Llama, write_seeded

Run = Callable[..., Any]


def test_the_list_names_every_kernel_and_format(assay: Run) -> None:
    shown = assay("foundry", "list").out
    assert all(name in shown for name in KERNELS)
    listed = json.loads(assay("foundry", "list", "--json").out)
    assert set(listed["kernels"]) == set(KERNELS)
    assert "q4_k" in listed["formats"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", KERNELS)
def test_what_is_shown_compiles_by_itself(assay: Run, name: str) -> None:
    text = assay("foundry", "show", name, "--type", "half").out
    assert compile_library(text).function_names


def test_files_are_written_for_hosts(assay: Run, tmp_path: Path) -> None:
    command = ("foundry", "emit", "gemv", "--format", "q6_k", "-o", str(tmp_path / "own"))
    written = json.loads(assay(*command, "--json").out)
    assert written["buffers"] == {"matrix": 0, "scales": 1, "x": 2, "y": 3, "params": 4}
    metal, header = map(Path, written["files"])
    assert compile_library(metal.read_text()).function_names == ("gemv_q6_k",)
    assert "gemv_q6_k_params = 4,  // GemvParams, 8 bytes" in header.read_text()


def test_a_module_of_a_kernel_runs_checks_and_is_timed(assay: Run, tmp_path: Path) -> None:
    module = str(tmp_path / "softmax.assay")
    made = ("foundry", "build", "softmax", "--shapes", "x=rowsx8", "--dim", "rows=1..4")
    assert json.loads(assay(*made, "-o", module, "--json").out)["bytes"] > 1000
    given = ("--input", "2x8xf32=3")
    assert "2x8xf32=[0.125 0.125" in assay("run", module, *given).out
    assert "no findings" in assay("check", module, *given).out
    assert "1 run on Apple M1" in assay("time", module, *given).out
    assert "rows (1..4)x8 (bounded)" in assay("inspect", module).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("softmax", "--shapes", "y=4", "-o", "s.assay"), "takes no array y; it takes x"),
        (("softmax", "--shapes", "x=4; x=5", "-o", "s.assay"), "a kernel has one set"),
        (("softmax", "--shapes", "x=nx4", "--dim", "m=1..4", "-o", "s.assay"), "a size m"),
        (("softmax", "--shapes", "x=nx4", "-o", "s.bin"), "modules end in .assay"),
        (("swiglu", "--shapes", "gate=nx4", "-o", "s.assay"), "no value for up"),
    ],
)
def test_modules_that_cannot_be_are_told(
    assay: Run, tmp_path: Path, arguments: Sequence[str], said: str
) -> None:
    *rest, output = arguments
    failed = assay("foundry", "build", *rest, tmp_path / output)
    assert failed.code != 0 and said in failed.err


def test_what_a_kernel_is_made_with_can_be_chosen(assay: Run) -> None:
    options = ("--with", "head_size=128", "--with", "is_paged=true", "--with", "splits=4")
    text = assay("foundry", "show", "attention", *options).out
    assert "#define HEAD 128\n#define IS_PAGED 1\n" in text
    assert compile_library(text).function_names == ("attention",)
    text = assay("foundry", "show", "rms_norm", "--with", "epsilon=1e-6").out
    assert compile_library(text).function_names == ("rms_norm", "layer_norm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "attention", "--with", "head_size"), "--with head_size: expected NAME=VALUE"),
        (("show", "attention", "--with", "heads=4"), "attention has no heads; it has head_size, "),
        (("show", "attention", "--with", "head_size=a"), "expected a number, true or false"),
        (("show", "attention", "--with", "head_size=512"), "heads of 512; they have 8 to 256"),
        (("show", "rope", "--with", "is_neox=3"), "is_neox=3: expected true or false"),
        (("show", "gemn"), "there is no kernel gemn; there are softmax"),
        (("show", "softmax", "--type", "int"), "--type int: expected float, half, bfloat"),
        (("show", "softmax", "--format", "q8_0"), "--format: softmax reads no weights"),
        (("show", "gemv", "--format", "q9"), "--format: there is no format q9"),
        (
            ("show", "marlin_three_stages"),
            "marlin_three_stages of float and fp4_128: tile 64x64x32",
        ),
    ],
)
def test_what_is_not_there_is_refused(assay: Run, arguments: Sequence[str], message: str) -> None:
    done = assay("foundry", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_model_makes_tokens_and_says_how_long_the_next_takes(assay: Run, tmp_path: Path) -> None:
    sizes = {"width": 64, "hidden": 64, "heads": 2, "kv_heads": 1, "head_size": 32, "pairs": 16}
    path = write_seeded(tmp_path / "m.gguf", replace(SMALL, layers=1, vocabulary=40, **sizes))
    given = ("foundry", "model", str(path), "--prompt", "7", "--tokens", "2")
    found = json.loads(assay(*given, "--json").out)
    model = Llama.load(path)
    assert found == {"prompt": [7], "tokens": model.generate([7], 2), "seconds": {}}
    timed = assay(*given, "--chip", "m4-max").out
    assert f"tokens  {' '.join(map(str, found['tokens']))}" in timed
    assert re.search(r"m4-max +[\d.]+ us for token 3, \d+ per second, \d+ kernels", timed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--prompt", "a"), "--prompt a: expected numbers, as 1,2,3"),
        (("--temperature", "-1"), "temperature and top_k are 0 or more"),
        (("--cache", "q4_k"), "kernels do not write q4_k"),
        (("gone.gguf",), "gone.gguf cannot be read"),
    ],
)
def test_models_that_cannot_be_run_are_refused(
    assay: Run, arguments: Sequence[str], message: str
) -> None:
    done = assay("foundry", "model", *arguments)
    assert done.code == 2
    assert message in done.err


@struct
class Inner:
    tag: uchar
    where: float3


@struct
class Outer:
    flag: bool
    near: packed_float3
    inner: Annotated[Sequence[Inner], array(Inner, 2)]
    small: Annotated[Sequence[float], array(half, 3)]
    rest: short
    last: bfloat


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_host_s_compiler_lays_structs_out_alike(tmp_path: Path, language: str) -> None:
    source = (
        "kernel void k(constant Outer* p [[buffer(0)]], device float* y [[buffer(1)]])"
        " { y[0] = p->rest; }"
    )
    kernel = Standalone(source, "k", {"p": Outer, "y": output(float, (1,))})
    (tmp_path / "k.h").write_text(host_header(kernel))
    (tmp_path / "host.c").write_text('#include "k.h"\n')
    headers = Path(ziglang.__file__).parent / "lib" / "include"
    standard = {"c": "-std=c11", "c++": "-std=c++17"}[language]
    command = [sys.executable, "-m", "ziglang", "clang", "-x", language, standard]
    checked = subprocess.run(
        [*command, "-ffreestanding", "-isystem", headers, "-fsyntax-only", "host.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
