"""`assay time` that is stopped prints what it has timed until then."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.prediction import programs, sources

from .conftest import Done

Assay = Callable[..., Done]
SOURCE = """kernel void first(device float* x [[buffer(0)]]) { x[0] = 1; }
kernel void second(device float* x [[buffer(0)]]) { x[0] = 2; }
"""


@pytest.fixture(autouse=True)
def default_signals() -> Iterator[None]:
    """What a process begins with; pytest or its plugins may have set others."""
    before = {
        number: signal.signal(number, handler)
        for number, handler in (
            (signal.SIGTERM, signal.SIG_DFL),
            (signal.SIGINT, signal.default_int_handler),
        )
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.metal"
    path.write_text(SOURCE)
    return path


def stop(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, after: int, sent: int) -> None:
    """Send the process a signal when the function of a module is called once more."""
    real, calls = getattr(module, name), []

    def called(*given: Any, **named: Any) -> Any:
        calls.append(name)
        if len(calls) > after:
            signal.raise_signal(sent)
        return real(*given, **named)

    monkeypatch.setattr(module, name, called)


@pytest.mark.parametrize(
    ("sent", "word"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "a signal")]
)
def test_the_kernels_that_were_timed_are_printed(
    assay: Assay, kernels: Path, monkeypatch: pytest.MonkeyPatch, sent: int, word: str
) -> None:
    stop(monkeypatch, sources, "time_kernel_run", 1, sent)
    done = assay("time", kernels)
    assert done.code == 128 + sent
    assert "first" in done.out and "second" not in done.out
    assert f"error: {kernels}: stopped by {word} after 1 of 2 kernels" in done.err


def test_timed_kernels_are_one_document_of_json(
    assay: Assay, kernels: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stop(monkeypatch, sources, "time_kernel_run", 3, signal.SIGINT)
    trace = tmp_path / "all.html"
    done = assay("time", kernels, "--compare", "m2", "--json", "--trace", trace)
    assert done.code == 130
    found = [
        (each["chip"]["key"], each["dispatches"][0]["kernel"])
        for each in json.loads(done.out)["results"]
    ]
    assert found == [("m1", "first"), ("m2", "first"), ("m1", "second")]
    assert trace.is_file()


def test_chips_that_a_kernel_was_timed_on_are_printed(
    assay: Assay, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, sources, "time_kernel_run", 2, signal.SIGINT)
    done = assay("time", kernels, "-f", "first", "--compare", "m2,m4-max", "--json")
    assert done.code == 130
    assert [each["chip"]["key"] for each in json.loads(done.out)["results"]] == ["m1", "m2"]


def test_nothing_is_printed_where_nothing_was_timed(
    assay: Assay, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, sources, "time_kernel_run", 0, signal.SIGINT)
    done = assay("time", kernels)
    assert (done.code, done.out) == (130, "")
    assert f"error: {kernels}: stopped by Ctrl-C after 0 of 2 kernels" in done.err


def test_chips_that_a_module_was_timed_on_are_printed(
    assay: Assay, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(monkeypatch, programs, "inputs_of", 1, signal.SIGINT)
    done = assay("time", module, "--compare", "m2,m4-max", "--json")
    assert done.code == 130
    assert json.loads(done.out)["chip"]["key"] == "m1"
    assert f"error: {module}: stopped by Ctrl-C; the times are of what had run" in done.err


def test_what_a_stopped_script_had_dispatched_is_printed(assay: Assay, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f'''import signal
import Metal
device = Metal.MTLCreateSystemDefaultDevice()
library, error = device.newLibraryWithSource_options_error_("""{SOURCE}""", None, None)
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
function = library.newFunctionWithName_("first")
state, error = device.newComputePipelineStateWithFunction_error_(function, None)
encoder.setComputePipelineState_(state)
encoder.setBuffer_offset_atIndex_(device.newBufferWithLength_options_(64, 0), 0, 0)
encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
signal.raise_signal(signal.SIGINT)
'''
    )
    done = assay("time", script, "--json")
    assert done.code == 130, done.err
    assert [each["kernel"] for each in json.loads(done.out)["dispatches"]] == ["first"]
