"""The recipes for continuous integration are valid, and their commands do what they promise."""

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from .commands import ROOT

PAGE = ROOT / "docs" / "guides" / "continuous-integration.md"
RECORDINGS = ROOT / "docs" / "guides" / "recordings.md"
GITHUB, LARGE, GITLAB = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.M | re.S)
ADD = """#include <metal_stdlib>
using namespace metal;
kernel void add(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i] + 1;
}
"""
OWN = f'''import Metal

def test_add():
    device = Metal.MTLCreateSystemDefaultDevice()
    library, _ = device.newLibraryWithSource_options_error_("""{ADD}""", None, None)
    add = library.newFunctionWithName_("add")
    state, _ = device.newComputePipelineStateWithFunction_error_(add, None)
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    for index in range(2):
        x = device.newBufferWithBytes_length_options_(bytes(32), 32, 0)
        encoder.setBuffer_offset_atIndex_(x, 0, index)
    encoder.dispatchThreads_threadsPerThreadgroup_((8, 1, 1), (8, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert x.contents().as_buffer(4).cast("f")[0] == 1
'''
RACE = """#include <metal_stdlib>
using namespace metal;
kernel void mix(device float* x, uint i [[thread_index_in_threadgroup]]) {
    x[i] = x[255 - i];
}
"""
TEST = """
import numpy as np

def test_kernel(check_kernel):
    check_kernel("kernels/{kernel}.metal", "{kernel}", {arguments}, threads=256)
"""
STATED = """[kernel.mul_mv_q4]
threadgroups = [4, 2]
threadgroup = 64
arguments.args = { ne00 = 4096, ne01 = 8, nb01 = 2304, nb11 = 16384, nb1 = 32 }
arguments.src0 = { shape = 32768 }
arguments.src1 = { shape = 32768 }
arguments.dst = { shape = 64 }
constants.SIMDGROUPS = 2
"""
ARRAY = "np.ones(256, np.float32)"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a kernel and a test, and with `assay` and `pytest` of this tree."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "tests").mkdir()
    plugin = "" if entry_points(group="pytest11", name="assay") else " -p assay.pytest_plugin"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in {"assay": "assay", "pytest": f"pytest{plugin}"}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, kernel: str, source: str, arguments: str) -> None:
    (project / "kernels" / f"{kernel}.metal").write_text(source)
    text = TEST.format(kernel=kernel, arguments=arguments)
    (project / "tests" / f"test_{kernel}.py").write_text(text)


def shell(text: str) -> subprocess.CompletedProcess[str]:
    """As the runners do it: bash that stops at the first failure."""
    return subprocess.run(["bash", "-ec", text], capture_output=True, text=True, timeout=300)


def github_steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load(GITHUB)
    [job] = workflow["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def test_the_workflow_of_github_has_what_its_schema_demands() -> None:
    workflow = yaml.safe_load(GITHUB)
    # YAML 1.1 reads the key `on` as true.
    assert workflow.get("on", workflow.get(True)) == ["push", "pull_request"]
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    for step in github_steps():
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+(/[\w-]+)*@v\d+", step["uses"])


@pytest.mark.slow
def test_the_commands_of_github_leave_what_the_later_steps_upload(project: Path) -> None:
    write(project, "add", ADD, f"{ARRAY}, {ARRAY}")
    write(project, "mix", RACE, ARRAY)
    commands = [step["run"] for step in github_steps() if "run" in step]
    assert commands.pop(0) == "pip install ./third_party/assay pytest"
    codes = [shell(command).returncode for command in commands]
    assert codes == [1, 1]
    uploads = [step["with"] for step in github_steps() if "upload" in step.get("uses", "")]
    sarif = json.loads((project / uploads[0]["sarif_file"]).read_text())
    [result] = sarif["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "kernels/mix.metal"
    assert (project / uploads[1]["path"]).is_dir()


@pytest.mark.slow
def test_the_job_for_one_large_file_checks_what_is_stated_and_reports_on_all(project: Path) -> None:
    walks = ROOT / "tests" / "walks"
    for name in ("src", "ci"):
        (project / name).mkdir()
    shutil.copy(walks / "library.metal", project / "src")
    shutil.copytree(walks / "include", project / "src" / "include")
    (project / "ci" / "args.toml").write_text(STATED)
    [job] = yaml.safe_load(LARGE)["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands.pop(0) == "pip install ./third_party/assay"
    assert [shell(command).returncode for command in commands] == [0, 1]
    (run,) = json.loads((project / "findings.sarif").read_text())["runs"]
    kinds = {result["ruleId"] for result in run["results"]}
    assert {"compile-error", "race-read-write"} <= kinds


def gitlab_script() -> str:
    [job] = yaml.safe_load(GITLAB).values()
    script: list[str] = job["script"]
    return "\n".join(script)


@pytest.mark.parametrize("fails", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_job_of_gitlab_writes_its_reports_and_fails_with_either_step(
    project: Path, fails: bool
) -> None:
    write(project, "add", ADD, f"{ARRAY}, {ARRAY}")
    if fails:
        write(project, "mix", RACE, ARRAY)
    done = shell(gitlab_script())
    assert done.returncode == int(fails), done.stdout + done.stderr
    [job] = yaml.safe_load(GITLAB).values()
    for name in job["artifacts"]["reports"]["junit"]:
        root = ElementTree.parse(project / name).getroot()
        assert len(list(root.iter("testcase"))) == 1 + int(fails)
        assert len(list(root.iter("failure"))) == int(fails)
    assert all((project / path).exists() for path in job["artifacts"]["paths"]) == fails


@pytest.mark.slow
def test_the_workflow_that_records_ends_in_time_and_uploads_what_its_commands_leave(
    project: Path,
) -> None:
    [text] = re.findall(r"^```yaml\n(.*?)^```", RECORDINGS.read_text(), re.M | re.S)
    [job] = yaml.safe_load(text)["jobs"].values()
    install, *commands = [step["run"] for step in job["steps"] if "run" in step]
    assert install == "pip install './third_party/assay[macos]' pytest"
    limits = [int(found) for found in re.findall(r"--timeout (\d+)", text)]
    assert len(limits) == len(commands) and sum(limits) < 60 * job["timeout-minutes"]
    (project / "tests" / "gpu").mkdir()
    (project / "tests" / "gpu" / "test_own.py").write_text(OWN)
    for command in commands:
        here = command.replace("record ", "record --device emulated ")
        done = shell(here.replace("recordings.suite", "recordings.suite 'convert/float-*'"))
        assert done.returncode == 0, done.stdout + done.stderr
    uploaded = job["steps"][-1]["with"]["path"]
    left = sorted(path.name for path in project.glob(uploaded))
    assert left == ["run.assay-recording", "suite.assay-recording"]
