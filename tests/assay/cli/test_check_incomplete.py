"""What was not checked is never clean, in any format."""

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.cli import failures

from .conftest import Done

Assay = Callable[..., Done]

START = """
import sys
import Metal
device = Metal.MTLCreateSystemDefaultDevice()
source = '''#include <metal_stdlib>
kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = 2; }
'''
library, error = device.newLibraryWithSource_options_error_(source, None, None)
state, error = device.newComputePipelineStateWithFunction_error_(
    library.newFunctionWithName_("k"), None)
queue = device.newCommandQueue()
def dispatch(size=4096, event=None):
    commands = queue.commandBuffer()
    if event is not None:
        commands.encodeWaitForEvent_value_(event, 1)
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(device.newBufferWithLength_options_(size, 0), 0, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((1024, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    commands.commit()
    return commands
"""
ENDINGS = {
    "raises": ("dispatch().waitUntilCompleted()\nraise ValueError('oops')", 2, "ValueError: oops"),
    "raises at once": ("raise ValueError('oops')", 2, "ValueError: oops"),
    "does not parse": ("dispatch(", 2, "SyntaxError"),
    "exit code": ("dispatch().waitUntilCompleted()\nsys.exit(3)", 3, "exit code 3"),
    "message": ("dispatch().waitUntilCompleted()\nsys.exit('no')", 1, "the message 'no'"),
    "no kernel": ("print('nothing to do')", 2, "no kernel was dispatched"),
    "waits for ever": ("dispatch(event=device.newSharedEvent())", 2, "1 committed command buffer"),
}


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(START + text)
        return path

    return write


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_that_was_not_checked_to_its_end_is_clean_in_no_format(
    assay: Assay, script: Callable[[str], Path], ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The traceback of a script is shown as Python shows it, which is no traceback of ours.
    monkeypatch.setattr(traceback, "print_exception", lambda *arguments: None)
    text, code, why = ENDINGS[ending]
    path = script(text)
    done = {name: run(assay, path, name) for name in ("text", "json", "sarif", "junit")}
    assert {each.code for each in done.values()} == {code}
    assert why in done["text"].out.replace("No kernel", "no kernel")
    found = json.loads(done["json"].out)
    assert found["passed"] is False
    assert any(why in each for each in found["unchecked"])
    (invocation,) = json.loads(done["sarif"].out)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    said = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert any(why in each for each in said)
    suite = ElementTree.fromstring(done["junit"].out)
    assert int(suite.attrib["errors"]) == len(list(suite.iter("error"))) >= 1
    assert any(why in (error.text or "") for error in suite.iter("error"))
    assert int(suite.attrib["tests"]) == len(list(suite.iter("testcase")))


def run(assay: Assay, path: Path, format_name: str) -> Done:
    """How it ended, and the report."""
    output = path.with_suffix(".report")
    done = assay("check", path, "--format", format_name, "--output", output)
    return Done(code=done.code, out=output.read_text(), err=done.err)


def test_a_program_that_ends_well_is_clean(assay: Assay, script: Callable[[str], Path]) -> None:
    done = assay("check", script("dispatch().waitUntilCompleted()"), "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert (found["passed"], found["unchecked"]) == (True, [])


def test_findings_go_before_all_else(assay: Assay, script: Callable[[str], Path]) -> None:
    done = assay("check", script("dispatch(size=64).waitUntilCompleted()\nsys.exit(3)"), "--json")
    assert done.code == 1
    assert [each["kind"] for each in json.loads(done.out)["findings"]] == ["out-of-bounds-write"]


def test_kernels_that_the_program_did_not_wait_for_are_checked_all_the_same(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    done = assay("check", script("for _ in range(20): dispatch()\ndispatch(size=64)"), "--json")
    assert done.code == 1
    assert [each["kind"] for each in json.loads(done.out)["findings"]] == ["out-of-bounds-write"]


def test_a_command_buffer_that_failed_for_another_reason_is_told(
    assay: Assay, script: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.hal.metal.emulated.commands.commands import DispatchCommand

    def fail(*arguments: object, **options: object) -> None:
        raise OSError("the host is short of something")

    monkeypatch.setattr(DispatchCommand, "_dispatch", fail)
    done = assay("check", script("dispatch().waitUntilCompleted()"), "--json")
    assert done.code == 2
    (why,) = json.loads(done.out)["unchecked"]
    assert why == "a command buffer ended with an error: the host is short of something"


def test_a_module_that_is_stopped_is_not_clean(
    assay: Assay, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.hal.status import StatusError
    from assay.module import Function

    def stop(*arguments: object) -> None:
        raise StatusError("INTERNAL", "stopped half-way")

    monkeypatch.setattr(Function, "invoke", stop)
    done = assay("check", module, "--input", "2x2xf32=1", "--input", "3", "--json")
    assert done.code == 2
    found = json.loads(done.out)
    assert found["passed"] is False
    assert "stopped half-way" in found["unchecked"][0]


def test_internal_errors_end_with_2(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble() -> None:
        raise ZeroDivisionError("our own")

    monkeypatch.setattr(failures, "_application", stumble)
    done = assay("time", "x.metal")
    assert done.code == 2
    assert "internal error (ZeroDivisionError: our own)" in done.err


def test_a_file_that_does_not_compile_has_a_place_in_reports_for_other_programs(
    assay: Assay, tmp_path: Path
) -> None:
    bad, good = tmp_path / "bad.metal", tmp_path / "good.metal"
    bad.write_text("kernel void k(device int* x) {\n    x[0] = y;\n}\n")
    good.write_text("kernel void k(device int* x) { x[0] = 1; }\n")
    done = assay("check", bad, good, "--format", "sarif")
    (run,) = json.loads(done.out)["runs"]
    assert done.code == 2 and run["invocations"][0]["executionSuccessful"] is False
    (result,) = run["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], region["startLine"]) == ("compile-error", 2)
    assert "undeclared identifier 'y'" in result["message"]["text"]
    done = assay("check", bad, good, "--format", "junit")
    cases = list(ElementTree.fromstring(done.out).iter("testcase"))
    assert done.code == 2 and [case.get("name") for case in cases] == ["k", "compiles"]
    assert cases[1].get("line") == "2" and cases[1].find("error") is not None
