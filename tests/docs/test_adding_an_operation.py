"""The page about adding an operation: applied to a copy of the source, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .commands import ROOT

PAGE = (ROOT / "docs" / "how-it-works" / "adding-an-operation.md").read_text()
CHANGES = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S))
(REFUSAL,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
(KERNEL,) = re.findall(r"^```metal\n(.*?)^```", PAGE, re.M | re.S)
HEADER = "compiler/msl/include/assay/intrinsics.h"
LAST_VOTE = "__ASSAY_LANES unsigned long __assay_simd_active_mask();\n"
SCRIPT = f'''
import sys

import numpy as np

from assay.compiler.msl import compile_library
from assay.hw.apple.lower.lower import lower
from assay.sim.simt import UnsupportedKernel
from assay.sim.simt.ir.operations.handlers import Handlers
from assay.sim.simt.ir.operations.table import OPERATIONS
from assay.sim.simt.ir.passes import check_behind_passes
from assay.sim.simt.ir.verify import verify
from tests.support.kernels import Kernel, on_reference
from tests.support.msl import PRELUDE, run_kernel

SOURCE = """{KERNEL}"""
check_behind_passes(verify)
library = compile_library(PRELUDE + "#line 1\\n" + SOURCE, file_name="match.metal")
program = library.function("match").program()
try:
    function = program.function
except UnsupportedKernel as error:
    sys.exit(str(error))
values, out = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint64)
run_kernel(SOURCE, values, out)


class Imported(Kernel):
    def function(self):
        return program.function


kernel = Imported(bitcode=program.bitcode, parameters=program.parameters)
_, expected = on_reference(kernel, [values, np.zeros(32, np.uint64)])
print("agree:", np.array_equal(out, expected), "first:", hex(out[0]), "last:", hex(out[31]))
print("classes:", *sorted(set(lower(program.taped_function).classes)))
print("missing:", *(t.what for t in Handlers.all if t.missing(OPERATIONS.values())))
'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, with what the page adds but for the files in which the operation is done."""
    top: Path = tmp_path_factory.mktemp("source")
    for folder in ("assay", "compiler", "hal", "hw", "sim", "traces", "tests/support"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, top / folder, symlinks=True, ignore=ignored)
    (top / "tests" / "__init__.py").touch()
    header = top / HEADER
    text = header.read_text()
    assert LAST_VOTE in text
    header.write_text(text.replace(LAST_VOTE, LAST_VOTE + CHANGES[HEADER]))
    return top


def run(top: Path) -> tuple[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(top)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=top, env=environment, capture_output=True, text=True
    )
    return done.stdout, done.stderr


def test_an_operation_takes_three_files_besides_its_header() -> None:
    assert len(CHANGES.keys() - {HEADER}) == 3


def test_a_declaration_alone_is_refused_as_the_page_says(copy: Path) -> None:
    stdout, stderr = run(copy)
    assert not stdout
    assert stderr == REFUSAL


def test_what_the_page_adds_makes_it_run_on_both_engines_and_have_a_time(copy: Path) -> None:
    for name, text in CHANGES.items():
        if name != HEADER:
            with (copy / name).open("a") as file:
                file.write("\n\n" + text)
    stdout, stderr = run(copy)
    assert stderr == ""
    agree, classes, missing = stdout.splitlines()
    assert agree == "agree: True first: 0x49249 last: 0x0"
    assert {"shuffle_fixed", "ballot"} <= set(classes.split())
    assert missing == "missing:"
