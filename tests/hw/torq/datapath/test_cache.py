"""Machine code kept on disk: made again when it is damaged or cannot be kept."""

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
from assay.hw.torq.datapath.run import UNIT
print(UNIT.is_cached())
"""


def is_cached(folder: Path) -> str:
    environment = os.environ | {"ASSAY_CACHE_DIR": str(folder)}
    return subprocess.check_output([sys.executable, "-c", ASK], env=environment, text=True)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the machine code is."""
    folder = tmp_path_factory.mktemp("cache")
    run(folder)
    return folder


def test_whether_there_is_machine_code_already_can_be_asked(tmp_path: Path, filled: Path) -> None:
    assert is_cached(tmp_path) == "False\n"
    assert is_cached(filled) == "True\n"


def test_damaged_machine_code_is_made_again(filled: Path) -> None:
    (file,) = (path for path in (filled / "slice").rglob("*") if path.is_file())
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    run(filled)
    assert file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_time_only() -> None:
    run(Path("/proc/nobody-can-write-here"))
