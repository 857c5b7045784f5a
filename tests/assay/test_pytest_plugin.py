"""The pytest plugin, in test runs of its own."""

import json
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import numpy  # noqa: F401  before the runs inside, which could not load it a second time
import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]
PRELUDE = """
import numpy as np
import pytest
import assay

HEAD = "#include <metal_stdlib>\\nusing namespace metal;\\n"
ADD = HEAD + "kernel void add(device const float* x, device float* y,\\n" \\
    "uint i [[thread_position_in_grid]]) { y[i] = x[i] + 1; }"
SHIFT = HEAD + "kernel void shift(device const float* x, uint i [[thread_position_in_grid]],\\n" \\
    "device float* y) { y[i] = x[i + 1]; }"
TILE = HEAD + "kernel void tile(device float* x, uint i [[thread_index_in_threadgroup]]) {\\n" \\
    "threadgroup float t[256]; t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);\\n" \\
    "x[i] = t[255 - i]; }"
X = np.arange(256, dtype=np.float32)

def run(device, source, name, *arrays, threads=256, length=0):
    library, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert library, error
    state, error = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_(name), None)
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    buffers = [device.newBufferWithBytes_length_options_(a, a.nbytes, 0) for a in arrays]
    for index, buffer in enumerate(buffers):
        encoder.setBuffer_offset_atIndex_(buffer, 0, index)
    if length:
        encoder.setThreadgroupMemoryLength_atIndex_(length, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((threads, 1, 1), (threads, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    return buffers, commands
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs pytest with the plugin on one test file that `text` ends."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root)
    monkeypatch.setenv("PYTHONPATH", str(root))

    def start(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_kernels=PRELUDE + text)
        return pytester.runpytest_inprocess("-p", "assay.pytest_plugin", *options)

    return start


def test_a_kernel_without_findings_passes(run: Run) -> None:
    done = run(
        """
def test_add(check_kernel):
    y = np.zeros(256, np.float32)
    report = check_kernel(ADD, "add", X, y, threads=256)
    assert report.findings == () and (y == X + 1).all()
"""
    )
    done.assert_outcomes(passed=1)


def test_a_finding_fails_the_test_and_is_all_that_is_shown(run: Run) -> None:
    done = run(
        """
def test_shift(check_kernel):
    check_kernel(SHIFT, "shift", X, X.copy(), threads=256)
"""
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "test_kernels.py:*: kernel 'shift' has findings",
            "program_source.metal:4:*: error: out-of-bounds read of 4 bytes*",
            "    4 | device float* y) { y[[]i[]] = x[[]i + 1[]]; }",
        ]
    )
    assert "def check(" not in done.stdout.str() and "runner.py" not in done.stdout.str()


def test_with_prove_a_test_fails_unless_its_launch_is_proved(run: Run) -> None:
    done = run(
        """
def test_add(check_kernel):
    check_kernel(ADD, "add", X, X.copy(), threads=256, threadgroup=64, prove=True)

def test_part(check_kernel):
    check_kernel(ADD, "add", X, X.copy(), threads=250, threadgroup=64, prove=True)

SUM = HEAD + "kernel void k(device float* y, uint i [[thread_position_in_grid]]," \\
    "uint t [[thread_index_in_threadgroup]]) { threadgroup float s[64]; s[t] = i;" \\
    "threadgroup_barrier(mem_flags::mem_threadgroup); y[i] = s[t]; }"
def test_last(check_kernel):
    check_kernel(SUM, "k", X.copy(), threads=250, threadgroup=64, prove=True)

LATER = HEAD + "kernel void k(device const uint* at, device float* y,\\n" \\
    "uint i [[thread_position_in_grid]]) { y[at[i]] = i; }"
def test_data(check_kernel):
    at = np.arange(256, dtype=np.uint32)
    check_kernel(LATER, "k", at, X.copy(), threads=256, threadgroup=64, prove=True)
"""
    )
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*kernel 'k' is not proved",
            "*which threads of threadgroups that are not full write is not followed*",
        ]
    )


def test_a_kernel_that_does_not_compile_fails_with_the_compilers_words(run: Run) -> None:
    done = run(
        """
def test_bad(check_kernel):
    check_kernel(HEAD + "kernel void k(device float* x) { y; }", "k", X)
"""
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["test_kernels.py:*: program_source.metal:3:*undeclared*"])


def test_raise_if_any_is_shown_with_its_place_in_the_test(run: Run) -> None:
    done = run(
        """
def test_shift():
    report = assay.check_kernel(SHIFT, "shift", X, X.copy(), threads=256)
    report.raise_if_any()
"""
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["test_kernels.py:*: program_source.metal:4:*: error: *"])
    assert "raise CheckFindings" not in done.stdout.str()


DISPATCHES = """
def test_shift(metal_device):
    run(metal_device, SHIFT, "shift", X, X)

def test_add(metal_device):
    run(metal_device, ADD, "add", X, X)
"""


def test_without_the_option_dispatches_are_not_checked(run: Run) -> None:
    run(DISPATCHES).assert_outcomes(passed=2)


def test_the_option_checks_all_that_tests_dispatch(run: Run) -> None:
    done = run(DISPATCHES, "--assay-check", "bounds,race")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        ["program_source.metal:4:*: error: out-of-bounds read*", "*(looked for: race, bounds)"]
    )
    assert "pytest_plugin.py" not in done.stdout.str()


def test_findings_are_added_to_a_failure_of_the_tests_own(run: Run) -> None:
    done = run(
        """
def test_shift(metal_device):
    _, commands = run(metal_device, SHIFT, "shift", X, X)
    assert commands.error() is None
""",
        "--assay-check",
        "all",
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert commands.error() is None*", "*assay*", "*out-of-bounds*"])


def test_a_budget_of_threadgroup_memory_is_kept_or_broken(run: Run) -> None:
    done = run(
        """
@pytest.mark.threadgroup_memory(max=1024)
def test_within(metal_device):
    run(metal_device, TILE, "tile", X)

@pytest.mark.threadgroup_memory(max=1000)
def test_beyond(metal_device):
    run(metal_device, TILE, "tile", X)

@pytest.mark.threadgroup_memory(max=1000)
def test_beyond_by_the_other_fixture(check_kernel):
    check_kernel(TILE, "tile", X.copy(), threads=256)

ARGUMENT = HEAD + "kernel void k(device float* x, threadgroup float* t, uint i " \\
    "[[thread_index_in_threadgroup]]) { t[i] = x[i]; x[i] = t[i] + 1; }"

@pytest.mark.threadgroup_memory(max=1000)
def test_beyond_by_an_argument(metal_device):
    run(metal_device, ARGUMENT, "k", X, length=1024)
""",
        "-rA",
    )
    done.assert_outcomes(passed=1, failed=3)
    words = "kernel 'tile' uses 1024 bytes of threadgroup memory; the test allows 1000"
    done.stdout.fnmatch_lines([f"*program_source.metal:*{words} [[]threadgroup-memory[]]"])
    done.stdout.fnmatch_lines(["*kernel 'k' uses 1024 bytes of threadgroup memory*"])


def test_a_budget_of_registers_is_kept_or_broken(run: Run) -> None:
    done = run(
        """
@pytest.mark.registers(max=1000)
def test_within(metal_device):
    run(metal_device, TILE, "tile", X)

@pytest.mark.registers(max=1)
def test_beyond(check_kernel):
    check_kernel(TILE, "tile", X.copy(), threads=256)
"""
    )
    done.assert_outcomes(passed=1, failed=1)
    words = "kernel 'tile' needs about * registers; the test allows 1 [[]registers[]]"
    done.stdout.fnmatch_lines([f"program_source.metal:*: error: {words}"])


def test_a_budget_without_a_number_is_refused(run: Run) -> None:
    done = run("@pytest.mark.threadgroup_memory(max='1k')\ndef test_x(): pass\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*threadgroup_memory needs max=NUMBER, not '1k'*"])


def test_the_device_is_the_chip_that_was_chosen_and_the_systems_default(run: Run) -> None:
    done = run(
        """
def test_device(metal_device):
    from assay.hal.metal.api import load
    assert load("emulated").MTLCreateSystemDefaultDevice() is metal_device
    assert "M2" in metal_device.name()
""",
        "--assay-chip",
        "m2",
    )
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--assay-check", "rac"), "*--assay-check rac: 'rac' is no check; there are race*"),
        (("--assay-chip", "z80"), "*--assay-chip z80: *"),
    ],
)
def test_wrong_options_are_refused_before_any_test(
    run: Run, options: tuple[str, ...], complaint: str
) -> None:
    done = run("def test_x(): pass\n", *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([complaint])


def test_a_failure_leaves_findings_and_inputs_that_assay_check_can_run(
    run: Run, pytester: pytest.Pytester
) -> None:
    done = run(DISPATCHES, "--assay-check", "all", "--assay-trace", "kept")
    done.assert_outcomes(passed=1, failed=1)
    [folder] = (pytester.path / "kept").iterdir()
    data = json.loads((folder / "findings.json").read_text())
    assert data["test"] == "test_kernels.py::test_shift"
    [report, *_] = data["reports"]
    assert [finding["kind"] for finding in report["findings"]] == ["out-of-bounds-read"]
    again = pytester.run(
        sys.executable,
        "-m",
        "assay",
        "check",
        folder / "shift" / "kernel.metal",
        "--args",
        folder / "shift" / "args.toml",
    )
    assert again.ret == 1
    again.stdout.fnmatch_lines(["*kernel.metal:4:*out-of-bounds read*", "1 kernel, 1 finding*"])


def test_a_failure_leaves_a_timeline_of_what_the_test_ran(
    run: Run, pytester: pytest.Pytester
) -> None:
    done = run(
        """
def test_both(metal_device):
    run(metal_device, ADD, "add", X, X)
    run(metal_device, SHIFT, "shift", X, X)
    assert False, "of its own"
""",
        "--assay-trace",
        "kept",
        "--assay-chip",
        "m4",
    )
    done.assert_outcomes(failed=1)
    [folder] = (pytester.path / "kept").iterdir()
    assert (folder / "timeline.html").read_text().startswith("<!DOCTYPE html>")
    assert "'shift': " in (folder / "timeline.txt").read_text()


def test_the_plugin_is_an_entry_point_of_the_project() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nassay = "assay.pytest_plugin"' in text
    for point in entry_points(group="pytest11", name="assay"):
        assert point.value == "assay.pytest_plugin"


def test_what_a_test_runs_on_an_npu_is_checked_too(run: Run) -> None:
    result = run(
        """
from assay.hal.torq.write import write_executable
from tests.assay.test_npu import OPERANDS, early

def test_early():
    assay.load(write_executable(early())).early(OPERANDS)
""",
        "--assay-check=all",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*SLC0 writes what XW reads*npu-race*", "*1 executable, *"])
