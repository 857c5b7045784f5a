"""Records the pictures of README and the guides from real runs: python docs/images/record.py"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from assay.cli import demo, terminal

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]

SCAN = """\
#include <metal_stdlib>
using namespace metal;

//! [kernel.scan]
//! threads = 512
//! threadgroup = 128
//! arguments.x = { shape = 512, fill = "random" }
//! arguments.y = { shape = 512, fill = "uninitialised" }
kernel void scan(device const float* x, device float* y, uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_threadgroup]]) {
    threadgroup float sum[128];
    sum[lane] = x[i];
    for (uint step = 1; step < 128; step *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float left = lane >= step ? sum[lane - step] : 0;
        sum[lane] += left;
    }
    y[i] = sum[lane];
}
"""
"""A sum of all elements up to each one, in which a barrier between read and write is missing."""


def _console(width: int) -> Console:
    return Console(
        record=True, width=width, force_terminal=True, color_system="truecolor", highlight=False
    )


def record_demo() -> None:
    """Runs the demo, with nothing compiled before, and writes demo.svg."""
    console = _console(96)
    terminal.stdout = lambda: console
    console.print("[bold]$ assay demo[/bold]")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSAY_CACHE_DIR"] = folder
        demo.demo_command()
    console.save_svg(str(FOLDER / "demo.svg"), title="assay")


def record_check() -> None:
    """Checks the scan and writes check.svg."""
    console = _console(124)
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scan.metal").write_text(SCAN)
        for shown, command in (
            ("tail -n +9 scan.metal", ["tail", "-n", "+9", "scan.metal"]),
            ("assay check scan.metal", [sys.executable, "-m", "assay", "check", "scan.metal"]),
        ):
            done = subprocess.run(command, cwd=folder, env=here, stdout=subprocess.PIPE, text=True)
            console.print(Text(f"$ {shown}", "bold"))
            console.print(Text(done.stdout.rstrip("\n")))
    console.save_svg(str(FOLDER / "check.svg"), title="assay")


if __name__ == "__main__":
    record_check()
    record_demo()
