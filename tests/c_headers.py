"""`python -m tests.c_headers` writes the headers that Python makes for C, for editors and readers.

They lie beside the C files that include them. The code is compiled with what Python says at the
time, not with these files; a test says when they are out of date.
"""

from pathlib import Path

from assay.hal.metal.emulated.order import guard_layout
from assay.hal.module.c_header import c_header
from assay.hal.torq.host import watch_code as host_watch
from assay.hw.apple.core import job
from assay.hw.torq.datapath import run as slice_run
from assay.sim.native.c_unit import CUnit
from assay.sim.simt.run import tape_code, watch_code

ROOT = Path(__file__).parents[1]
UNITS: tuple[CUnit, ...] = (
    guard_layout.UNIT,
    host_watch.UNIT,
    job.UNIT,
    slice_run.UNIT,
    tape_code.UNIT,
    watch_code.UNIT,
)
"""All C code of the project."""


def main() -> None:
    for unit in UNITS:
        path = ROOT / unit.header_path
        path.write_text(unit.declared())
        print(path.resolve().relative_to(ROOT))
    path = ROOT / "hal" / "module" / "assay_module.h"
    path.write_text(c_header())
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
