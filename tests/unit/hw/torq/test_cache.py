"""Machine code kept on disk: made again when it is damaged or cannot be kept."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import tests.support.torq_run as support
from tests.support.torq_tasks import streaming
task = streaming(source=0x1000, target=0x2000, size=1, count=16, words=1, result=1,
                 alu_op0_mode="DBYP", alu_op1_mode="BOR")
import numpy as np
lram, _ = support.run(task, {0x1000: np.arange(16, dtype=np.int8)})
assert lram.read(0x2000, 16) == bytes(range(16))
"""


def run(folder: Path) -> None:
    environment = os.environ | {"ASSAY_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


ASK = """
from assay.hw.torq.datapath.compiled import prepared
from assay.hw.torq.datapath.run import run_task
print(prepared(run_task))
"""


def test_whether_there_is_machine_code_already_can_be_asked(tmp_path: Path) -> None:
    environment = os.environ | {"ASSAY_CACHE_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", ASK]
    assert subprocess.check_output(asked, env=environment, text=True) == "False\n"


@pytest.mark.slow
def test_machine_code_on_disk_counts_as_there(tmp_path: Path) -> None:
    run(tmp_path)
    environment = os.environ | {"ASSAY_CACHE_DIR": str(tmp_path)}
    asked = [sys.executable, "-c", ASK]
    assert subprocess.check_output(asked, env=environment, text=True) == "True\n"


def entries(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (folder / "numba").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_damaged_machine_code_is_never_run_but_made_again(tmp_path: Path) -> None:
    run(tmp_path)
    whole = entries(tmp_path)
    assert whole
    for path, data in whole.items():
        damaged = bytearray(data)
        damaged[len(data) // 2] ^= 0xFF
        path.write_bytes(damaged)
    run(tmp_path)
    again = entries(tmp_path)
    assert again.keys() == whole.keys()
    assert all(is_intact(data) for data in again.values())


def is_intact(entry: bytes) -> bool:
    """Whether an entry is what was kept: it begins with a mark and a checksum of the rest."""
    return entry[8:40] == hashlib.sha256(entry[40:]).digest()


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_costs_time_only() -> None:
    run(Path("/proc/nobody-can-write-here"))
