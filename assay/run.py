"""`python -m assay.run script.py arguments...`: PyObjC's Metal scripts, unchanged, anywhere.

Everything behind the script is the script's. `-m NAME` runs a module instead, such as pytest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.hal.metal.api import DEVICES, NoSuchMetal

from .scripts import PATCHES, PatchError, install, run_module, run_script


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m assay.run",
        description="Run a Python program whose `import Metal` gives the emulated device.",
    )
    parser.add_argument("--device", choices=DEVICES, default="emulated", help="which Metal")
    parser.add_argument(
        "--patch",
        action="append",
        choices=sorted(PATCHES),
        default=[],
        help="replace mx.fast.metal_kernel or torch.mps.compile_shader, too, or make tinygrad's "
        "default device the emulated one",
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT names a module")
    parser.add_argument("script", metavar="SCRIPT", help="a Python file")
    parser.add_argument("rest", metavar="...", nargs=argparse.REMAINDER, help="its arguments")
    chosen = parser.parse_args(arguments)
    try:
        install(chosen.device, chosen.patch)
    except (NoSuchMetal, PatchError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if chosen.is_module:
        return run_module(chosen.script, chosen.rest)
    script = Path(chosen.script)
    if not script.is_file():
        print(f"error: {script}: there is no such file", file=sys.stderr)
        return 1
    return run_script(script, chosen.rest)


if __name__ == "__main__":
    sys.exit(main())
