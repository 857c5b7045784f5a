"""C code built with sanitizers ends the process where it does what C does not define."""

import subprocess
import sys

import pytest

from tests.sanitizers import environment, is_possible

pytestmark = pytest.mark.skipif(not is_possible(), reason="no gcc with sanitizers here")

PROGRAM = """
import ctypes, sys
import numpy as np
from assay.sim.native.c_code import load_c
text = '''#line 1 "folder/file.c"
int at(const int *numbers, int index) { return numbers[index]; }
int next(int number) { return number + 1; }
'''
code = load_c(text, "test-sanitized")
numbers = np.arange(4, dtype=np.int32)
at = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32)(code.address("at"))
next_ = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(code.address("next"))
print(at(numbers.ctypes.data, 3) if sys.argv[1] == "inside" else 0, flush=True)
if sys.argv[1] == "outside":
    at(numbers.ctypes.data, 4)
if sys.argv[1] == "overflow":
    next_(2**31 - 1)
print("done")
"""


def run(what: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, what]
    return subprocess.run(command, env=environment(), capture_output=True, text=True)


def test_code_without_a_fault_runs() -> None:
    assert run("inside").stdout == "3\ndone\n"


def test_a_read_behind_an_array_of_numpy_is_found() -> None:
    done = run("outside")
    assert done.returncode != 0 and "done" not in done.stdout
    assert "heap-buffer-overflow" in done.stderr and "folder/file.c:1" in done.stderr


def test_a_signed_overflow_is_found() -> None:
    done = run("overflow")
    assert done.returncode != 0 and "done" not in done.stdout
    assert "folder/file.c:2:38: runtime error: signed integer overflow" in done.stderr
