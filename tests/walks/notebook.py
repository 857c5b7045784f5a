"""A user of notebooks tries Assay: a kernel with a race, its repair, its time, an error, a script.

Runs in an empty folder with the Python of an environment that has `.[notebook]`; PyTorch's part is
left out where that is missing.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

KERNEL = """kernel void reverse(device const float* x, device float* y,
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float part[256];
    part[lane] = x[i];
    %s
    y[i] = part[size - 1 - lane];
}
"""
SCRIPT = """
import torch

library = torch.mps.compile_shader('''
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void far(device float* x, uint i [[thread_position_in_grid]]) { x[i + 90000] = 2; }
''')
x = torch.ones(4096, device="mps")
library.twice(x)
print("sum", x.sum().item())
"""


class Notebook:
    """A shell as a notebook has it."""

    def __init__(self) -> None:
        self._shell: Any = InteractiveShell.instance(colors="nocolor", warn_venv=False)

    def cell(self, text: str) -> str:
        """Run a cell; what it printed and displayed, as text and as HTML."""
        with capture_output() as captured:
            self._shell.run_cell(text)
        shown = [output.data.get("text/html", "") for output in captured.outputs]
        return "\n".join([captured.stdout, captured.stderr, *shown])

    def completions(self, text: str) -> list[str]:
        """What the Tab key offers."""
        with provisionalcompleter():
            return [one.text for one in self._shell.Completer.completions(text, len(text))]


def expect(said: str, *wanted: str, but: str = "") -> None:
    """Fail unless all that is wanted was said, and what must not be was not."""
    for each in wanted:
        assert each in said, f"expected {each!r} in:\n{said}"
    assert not but or but not in said, f"did not expect {but!r} in:\n{said}"


def checks(notebook: Notebook) -> None:
    """A race is found with its source, and its repair is seen."""
    notebook.cell("%load_ext assay")
    notebook.cell("import numpy as np\nx = np.arange(1024, dtype=np.float32)\ny = np.zeros_like(x)")
    said = notebook.cell("%%assay x y --threads 1024\n" + KERNEL % "")
    expect(said, "race-read-write", "y[i] = part[size - 1 - lane];", "threadgroups of 256 threads")
    repaired = KERNEL % "threadgroup_barrier(metal::mem_flags::mem_threadgroup);"
    notebook.cell("few, out = x[:256], y[:256].copy()")
    expect(notebook.cell("%%assay few out\n" + repaired), "no findings")  # of a grid that fits
    said = notebook.cell("%%assay x y --threads 1024 --threadgroup 256\n" + repaired)
    expect(said, "no findings")
    assert notebook.cell("print(float(y[0]))").startswith("255.0")
    line = "%%assay x y --threads 1024 --threadgroup 256 --time m4-max --timeline\n"
    said = notebook.cell(line + repaired)
    expect(said, "reverse on Apple M4 Max", "where the time goes", "<svg", "<iframe", "predicted:")
    expect(said, "no findings")


def helps(notebook: Notebook) -> None:
    """The Tab key knows the names, and errors end in the cell."""
    notebook.cell("import assay")
    found = notebook.completions("assay.")
    assert {"check_kernel", "time", "patch"} <= set(found), found
    assert "annotations" not in found
    said = notebook.cell("assay.check_kernel('kernel void f(device float* x) { x[0] = 1 }', 'f')")
    expect(said, "expected ';' after expression", but="assay/")
    said = notebook.cell("%%assay x z\n" + KERNEL % "")
    expect(said, "there is no variable z in this notebook", but="Traceback")


def torch_kernels(notebook: Notebook, folder: Path) -> None:
    """Tensors for "mps" are on the CPU, faults end in the cell, and a script is timed as it is."""
    notebook.cell("assay.patch('torch')\nimport torch")
    source = SCRIPT.partition("'''")[2].partition("'''")[0]
    notebook.cell(f"library = torch.mps.compile_shader({source!r})")
    said = notebook.cell("t = torch.ones(8, device='mps')\nlibrary.twice(t)\nprint(t.sum().item())")
    expect(said, "16.0")
    said = notebook.cell("library.far(t)")
    expect(said, "out-of-bounds write", "group_size was not given", but="assay/")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    timed = subprocess.run(
        ["assay", "time", script, "--chip", "m4-max", "--trace", "script.html"],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    expect(timed.stdout, "sum 8192.0", "twice on Apple M4 Max", "roofline")
    assert timed.returncode == 0 and (folder / "script.html").exists(), timed.stderr


def main() -> None:
    """Walk."""
    notebook = Notebook()
    checks(notebook)
    helps(notebook)
    if importlib.util.find_spec("torch") is not None:
        torch_kernels(notebook, Path.cwd())
    print("walked", "with PyTorch" if "torch" in sys.modules else "without PyTorch")


main()
