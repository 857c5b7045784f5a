"""`python -m tests.sanitizers` runs tests of the C code under AddressSanitizer and UBSan.

All C is compiled by the system's gcc with both, and tests that drive every part of it run in such
a process: taped kernels and random ones, watched kernels with their planted bugs, the core
model, slice programs of the NPU. A fault ends the process with the C file and line. With `--quick`
each part runs for some seconds. What follows goes to pytest.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

QUICK = (
    "tests/sim/simt/run/test_taped_kernels.py",
    "tests/assay/checks/test_source.py",
    "tests/hw/apple/core/test_core.py",
    "tests/hw/torq/datapath",
    "tests/compiler/torq/test_programs.py",
)
TESTS = (
    *QUICK,
    "tests/sim/simt/run/test_taping.py",
    "tests/hw/apple/core/test_properties.py",
    "tests/sim/simt/property/test_tapes.py",
    "tests/checks/test_planted.py",
    "tests/hw/torq/check",
    "tests/hw/torq/device",
    "tests/hw/torq/timing",
    "tests/hw/torq/words",
    "tests/compiler/torq/test_kernels_equal_the_reference.py",
)
LEFT_OUT = "tests/hw/torq/datapath/test_cache.py"  # such builds are not kept on disk
SANITIZERS = "address,undefined"


def runtimes() -> list[str]:
    """The sanitizers' libraries, which must be in the process before anything else."""
    found = []
    for name in ("libasan.so", "libubsan.so"):
        asked = ["gcc", f"-print-file-name={name}"]
        path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        if not Path(path).is_absolute():
            return []
        found.append(path)
    return found


def is_possible() -> bool:
    """Whether this machine has a gcc with sanitizers."""
    return sys.platform == "linux" and shutil.which("gcc") is not None and bool(runtimes())


def environment() -> dict[str, str]:
    """What a process needs whose C code is to be watched."""
    return os.environ | {
        "ASSAY_C_SANITIZERS": SANITIZERS,
        "LD_PRELOAD": " ".join(runtimes()),
        # Python frees little at its end. Its own allocator would hide where objects end.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def main() -> int:
    if not is_possible():
        print("SKIPPED: no gcc with libasan and libubsan on Linux: the C code is not checked")
        return 0
    given = sys.argv[1:]
    tests = QUICK if "--quick" in given else TESTS
    # Without `-s` pytest would keep what the sanitizers say for itself when the process ends.
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *tests]
    command += [f"--ignore={LEFT_OUT}", *(each for each in given if each != "--quick")]
    return subprocess.run(command, env=environment()).returncode


if __name__ == "__main__":
    sys.exit(main())
