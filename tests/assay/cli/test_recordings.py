"""`assay record` and `assay replay` as users type them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.hal.recordings import DeviceInfo, Recording, RecordingWriter
from assay.hal.recordings.chunks import DONE, chunk
from tests.support.captured import INPUT, capture, on_metal, write_model
from tests.support.recorded import SCALE
from tests.support.recording_files import put_together, taken_apart

from .conftest import Done

SCRIPT = f'''
import sys

import Metal
import numpy as np

device = Metal.MTLCreateSystemDefaultDevice()
library, error = device.newLibraryWithSource_options_error_("""{SCALE}""", None, None)
function = library.newFunctionWithName_("scale")
state, error = device.newComputePipelineStateWithFunction_error_(function, None)
x = np.arange(8, dtype=np.float32)
a = device.newBufferWithBytes_length_options_(x, x.nbytes, 0)
b = device.newBufferWithLength_options_(x.nbytes, 0)
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
encoder.setComputePipelineState_(state)
encoder.setBuffer_offset_atIndex_(a, 0, 0)
encoder.setBuffer_offset_atIndex_(b, 0, 1)
encoder.setBytes_length_atIndex_(np.float32(sys.argv[1]).tobytes(), 4, 2)
encoder.dispatchThreads_threadsPerThreadgroup_(Metal.MTLSizeMake(8, 1, 1), (8, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
print(np.frombuffer(b.contents().as_buffer(x.nbytes), np.float32)[7])
sys.exit(int(sys.argv[2]))
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "scale.py"
    path.write_text(SCRIPT)
    return path


def test_a_script_is_recorded_and_replayed(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.assay-recording"
    done = assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    assert (done.code, done.out) == (0, "21.0\n")
    assert "a.assay-recording: 1 dispatch, " in done.err
    replayed = assay("replay", file, "--trace", tmp_path / "both.html")
    assert replayed.code == 0
    assert "1 dispatch replayed: 1 equal; checks: no findings" in replayed.out
    assert (tmp_path / "both.html").stat().st_size > 10_000
    data = json.loads(assay("replay", file, "--json", "--chip", "none").out)
    assert (data["passed"], data["chip"]) == (True, None)
    assert data["dispatches"][0]["verdict"] == "equal"


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
)
def test_a_program_that_waits_for_ever_is_ended_with_what_it_recorded(
    script: Path, tmp_path: Path, sent: int, code: int
) -> None:
    waits = """
commands = commands.commandQueue().commandBuffer()
commands.encodeWaitForEvent_value_(device.newSharedEvent(), 1)
commands.commit()
print("waits", flush=True)
commands.waitUntilCompleted()
"""
    script.write_text(SCRIPT.replace("sys.exit(int(sys.argv[2]))", waits))
    file = tmp_path / "a.assay-recording"
    command = ["assay", "record", str(script), "--device", "emulated", "-o", str(file), "--", "3"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What a shell starts in the background ignores interrupts, and so does all it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert process.stdout.readline() == b"21.0\n"
            assert process.stdout.readline() == b"waits\n"
            process.send_signal(sent)
            assert process.wait(60) == code
        finally:
            process.kill()
        assert "1 dispatch, " in process.stderr.read().decode()
    with Recording(file) as recording:
        assert len(list(recording.dispatches())) == 1


def test_a_program_that_dispatches_on_is_ended_with_what_it_recorded(
    script: Path, tmp_path: Path
) -> None:
    start, rest = SCRIPT.split("commands = device.newCommandQueue()")
    body = textwrap.indent(f"commands = queue{rest.split('print(')[0]}", "    ")
    script.write_text(f"{start}queue = device.newCommandQueue()\nwhile True:\n{body}")
    file = tmp_path / "a.assay-recording"
    command = ["assay", "record", str(script), "--device", "emulated", "-o", str(file)]
    done = subprocess.run([*command, "--timeout", "2", "--", "3"], capture_output=True, text=True)
    assert done.returncode == 124, done.stderr
    kept, end = done.stderr.strip().split("\n")
    assert end == "error: a.assay-recording: stopped after 2 s"
    with Recording(file) as recording:
        count = len(list(recording.dispatches()))
    assert count and f": {count:,} dispatch" in kept


def test_a_recording_of_nothing_does_not_pass(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.assay-recording"
    done = assay("record", script, "--device", "emulated", "-o", file, "--limit", "0", "--", 3, 0)
    assert (done.code, done.out) == (2, "21.0\n")
    assert f"note: {file}: not written, as nothing was recorded" in done.err
    assert "note: not recorded: 1 x dispatches beyond --limit" in done.err
    assert "error: scale.py: no dispatch was recorded" in done.err
    assert list(tmp_path.iterdir()) == [script]


def test_a_recording_without_a_dispatch_does_not_pass_a_replay(
    assay: Callable[..., Done], tmp_path: Path
) -> None:
    file = tmp_path / "a.assay-recording"
    device = DeviceInfo(name="none", kind="emulated", system="none", recorder="0")
    with RecordingWriter(tmp_path / "b", device, "scale.py") as writer:
        writer.leave_out("dispatches beyond --limit")
        writer.flush()
        done_well = b'{"dispatches":0}'
        end = chunk(DONE, done_well, len(done_well))
        file.write_bytes(writer.partial.read_bytes() + end)  # as recorders left it once
    done = assay("replay", file)
    assert done.code == 2
    assert "not recorded: 1 x dispatches beyond --limit" in done.out
    assert "a.assay-recording: there is no dispatch in it to compare" in done.err
    done = assay("replay", file, "--json")
    assert (done.code, json.loads(done.out)["passed"]) == (2, False)


def test_a_program_that_dispatches_nothing_ends_with_its_own_error_or_one(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    script.write_text("import sys\nsys.exit(int(sys.argv[1]))\n")
    for given, code in ((0, 2), (7, 7)):
        done = assay("record", script, "--device", "emulated", "-o", tmp_path / "a", "--", given)
        assert done.code == code
        assert ("scale.py: no dispatch was recorded; it dispatched none" in done.err) == (not given)
        assert f"note: {tmp_path / 'a'}: not written, as nothing was recorded" in done.err
        assert list(tmp_path.iterdir()) == [script]


@pytest.mark.parametrize("dispatches", [0, 1])
def test_a_program_that_fails_leaves_what_it_dispatched_and_no_file_without_it(
    assay: Callable[..., Done], script: Path, tmp_path: Path, dispatches: int
) -> None:
    file = tmp_path / "a.assay-recording"
    before, _, _ = SCRIPT.partition("sys.exit") if dispatches else ("", "", "")
    script.write_text(f"{before}\nimport sys\nsys.exit('broken')\n")
    done = assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    assert done.code == 1
    assert "broken" in done.err
    assert sorted(tmp_path.iterdir()) == sorted([script, file][: 1 + dispatches])
    assert (f"{file}: not written, as nothing was recorded" in done.err) == (not dispatches)


def test_commands_about_traces_open_recordings(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file, page = tmp_path / "a.assay-recording", tmp_path / "a.html"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    assert "scale" in assay("trace", "summary", file).out
    assert assay("view", file, "-o", page, "--no-open").code == 0
    assert b"scale" in page.read_bytes()
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    done = assay("view", file, "-o", page, "--no-open")
    assert (done.code, "a.assay-recording: it is incomplete: " in done.err) == (0, True)
    file.write_bytes(whole[:60] + b"?" + whole[61:])
    done = assay("view", file, "-o", page, "--no-open")
    assert (done.code, "the chunk HEAD at byte 32 is damaged" in done.err) == (1, True)


def test_a_script_that_fails_is_recorded_and_ends_with_its_code(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a"
    done = assay("record", script, "--device", "emulated", "-o", file, "--", 3, 5)
    assert done.code == 5
    assert file.is_file()


def test_a_module_is_recorded_and_replayed(
    assay: Callable[..., Done], add: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a"
    inputs = ("--input", "2x2xf32=1,2,3,4", "--input", "3")
    done = assay("record", add, *inputs, "--device", "emulated", "-o", file)
    assert done.code == 0
    assert "1 dispatch" in done.err
    assert assay("replay", file).code == 0


def test_behind_the_name_of_a_module_all_is_its_own(
    assay: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tell.py").write_text("import sys; print(sys.argv[1:])")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for given in (("-q", "--output", "x"), ("--", "-q", "--output", "x")):
        done = assay("record", "--device", "emulated", "-o", "here", "-m", "tell", *given)
        assert (done.code, done.out) == (2, "['-q', '--output', 'x']\n")  # it has no dispatch
    assert not (tmp_path / "x").exists()


def test_a_file_that_cannot_be_written_is_called_by_its_name(
    assay: Callable[..., Done], script: Path
) -> None:
    done = assay("record", script, "--device", "emulated", "-o", "/nonexistent/a", "--", 3, 0)
    assert done.code != 0 and "/nonexistent/a: No such file" in done.err


@pytest.mark.parametrize(
    ("output", "said"),
    [(".", "is a folder"), ("/dev/null", "is a device"), ("pipe", "is a pipe"), ("round", "round")],
)
def test_a_recording_takes_the_place_of_files_only(
    assay: Callable[..., Done],
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    said: str,
) -> None:
    monkeypatch.chdir(script.parent)
    os.mkfifo("pipe")
    Path("round").symlink_to("round")
    before = sorted(script.parent.iterdir())
    done = assay("record", script, "--device", "emulated", "-o", output, "--", 3, 0)
    assert (done.code, done.out, said in done.err) == (2, "", True), done.err
    assert sorted(script.parent.iterdir()) == before
    assert Path("pipe").is_fifo() and Path("/dev/null").is_char_device()


@pytest.mark.parametrize("exists", [False, True])
def test_a_recording_is_written_through_a_link(
    assay: Callable[..., Done], script: Path, tmp_path: Path, exists: bool
) -> None:
    (tmp_path / "folder").mkdir()
    link, file = tmp_path / "link", tmp_path / "folder" / "file"
    link.symlink_to(Path("folder") / "file")
    if exists:
        file.write_text("old")
    assert assay("record", script, "--device", "emulated", "-o", link, "--", 3, 0).code == 0
    assert link.is_symlink() and assay("replay", file).code == 0
    assert list(file.parent.iterdir()) == [file]


def test_a_recording_of_nothing_replaces_no_file(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.assay-recording"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    kept, files = file.read_bytes(), sorted(tmp_path.iterdir())
    done = assay("record", script, "--device", "emulated", "-o", file, "-k", "nosuch", "--", 3, 0)
    assert done.code == 2
    assert f"note: {file}: kept as it was, without this run" in done.err
    assert "error: scale.py: no dispatch was recorded" in done.err
    assert (file.read_bytes(), sorted(tmp_path.iterdir())) == (kept, files)


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("record", "nosuch.py"), "nosuch.py: there is no such file", 1),
        (("replay", "nosuch"), "nosuch: there is no such file", 2),
        (("replay", __file__), "it is no recording; `assay record` makes them", 2),
    ],
)
def test_what_cannot_be_is_said(
    assay: Callable[..., Done], arguments: tuple[str, ...], message: str, code: int
) -> None:
    done = assay(*arguments)
    assert (done.code, message in done.err) == (code, True)


def test_without_a_mac_the_emulated_device_is_named(
    assay: Callable[..., Done], script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    done = assay("record", script)
    assert done.code == 1
    assert "device 'native' is Apple's own Metal" in done.err


def test_tolerances_that_are_misspelled_are_refused(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    file, limits = tmp_path / "a", tmp_path / "t.toml"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    limits.write_text('[kernels."sc*"]\nulps = 3\n')
    done = assay("replay", file, "--tolerances", limits)
    assert done.code == 2
    assert "kernels.sc*.ulps is no limit; there are ulp, rtol, atol and any_nan" in done.err
    limits.write_text('[kernels."sc*"]\nulp = 3\n')
    assert assay("replay", file, "--tolerances", limits).code == 0
    done = assay("replay", file, "--check", "nosuch")
    assert done.code == 2 and "error: --check nosuch: " in done.err
    done = assay("replay", file, "--chip", "nochip")
    assert done.code == 2 and "error: --chip nochip: chip 'nochip' is not known" in done.err


def test_kernels_of_torch_that_a_script_imports_are_recorded(
    assay: Callable[..., Done], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    script, file = tmp_path / "shade.py", tmp_path / "a.assay-recording"
    script.write_text(
        "import torch\n"
        "source = 'kernel void one(device float* y, uint i [[thread_position_in_grid]])"
        "{ y[i] = 1; }'\n"
        "y = torch.zeros(8, device='mps')\n"
        "torch.mps.compile_shader(source).one(y)\n"
        "print(y.sum().item())\n"
    )
    done = assay("record", script, "--device", "emulated", "-o", file)
    assert (done.code, done.out) == (0, "8.0\n"), done.err
    assert "1 dispatch replayed: 1 equal" in assay("replay", file, "--check", "none").out
    done = assay("record", script, "--device", "emulated", "--patch", "nothing")
    assert (done.code, "--patch nothing: expected torch or mlx" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[kernels."sc*"]\nulp = -3', "kernels.sc*.ulp = -3: expected a number of at least 0"),
        ("[default]\nrtol = nan", "default.rtol = nan: expected a number of at least 0"),
        ("[default]\natol = inf", "default.atol = inf: expected a number of at least 0"),
        ("[default]\natol = -1e-9", "default.atol = -1e-09: expected a number of at least 0"),
    ],
)
def test_tolerances_that_cannot_be_are_refused(
    assay: Callable[..., Done], script: Path, tmp_path: Path, text: str, said: str
) -> None:
    file, limits = tmp_path / "a", tmp_path / "t.toml"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    limits.write_text(text)
    done = assay("replay", file, "--tolerances", limits)
    assert (done.code, f"error: {limits}: {said}" in done.err) == (2, True), done.err


def test_tolerances_for_no_kernel_of_a_recording_are_told(
    assay: Callable[..., Done], script: Path, captured: Path, tmp_path: Path
) -> None:
    file, limits = tmp_path / "a", tmp_path / "t.toml"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    limits.write_text('[kernels."nosuch"]\nulp = 3\n[kernels."sc*"]\nulp = 3\n[kernels."x*"]\n')
    done = assay("replay", file, "--tolerances", limits)
    assert done.code == 0
    assert f"note: {limits}: no kernel of the recording is called nosuch, x*" in done.err
    limits.write_text('[kernels."result 1"]\nulp = 3\n[kernels."result 7"]\nulp = 3\n')
    done = assay("replay", captured, "--tolerances", limits)
    assert f"note: {limits}: no result of the capture is called result 7\n" in done.err
    limits.write_text('[kernels."result ?"]\nulp = 3\n')
    assert "note" not in assay("replay", captured, "--tolerances", limits).err


@pytest.mark.parametrize(("begin", "end"), [(1.0, 1.5), (7.0, 2e9)])
def test_times_that_no_run_has_are_called_by_the_file_and_the_dispatch(
    assay: Callable[..., Done], script: Path, tmp_path: Path, begin: float, end: float
) -> None:
    file, page = tmp_path / "a.assay-recording", tmp_path / "a.html"
    assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    plain = taken_apart(file)
    first, wrong = (
        {**plain.dispatches[0], "begin": b, "end": e} for b, e in ((5, 6), (begin, end))
    )
    plain.dispatches = [first, wrong]
    put_together(plain, file)
    for command in (("replay", file, "--trace", page), ("view", file, "-o", page, "--no-open")):
        done = assay(*command)
        assert done.code != 0
        assert f"error: {file}: dispatch 1 is said to have run from {begin:g} s to" in done.err


def test_a_program_is_recorded_and_replayed_at_once(
    assay: Callable[..., Done], tmp_path: Path
) -> None:
    script = tmp_path / "scale.py"
    script.write_text(SCRIPT.replace("sys.argv[1]", "3").replace("sys.argv[2]", "0"))
    done = assay("diff", script, "--device", "emulated", "--against", "emulated", "--exact")
    assert (done.code, "1 dispatch replayed: 1 equal" in done.out) == (0, True), done.err
    script.write_text("import Metal\n")
    done = assay("diff", script, "--against", "emulated")
    assert (done.code, "dispatched nothing that could be recorded" in done.err) == (2, True)
    script.write_text("import sys\nsys.exit(3)\n")
    done = assay("diff", script, "--against", "emulated")
    assert (done.code, "scale.py ended with exit code 3" in done.err) == (2, True)


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `iree-run-module` would capture on a Mac, with the results that it would keep."""
    source = write_model(tmp_path_factory.mktemp("captured"))
    made, _ = capture(source, [INPUT], results=2)
    with pytest.MonkeyPatch.context() as patched:
        return on_metal(made, source, [INPUT], patched)


def test_a_capture_of_iree_is_replayed_compared_and_timed(
    assay: Callable[..., Done], captured: Path, tmp_path: Path
) -> None:
    results = [f"@{captured.with_name(f'out{number}.npy')}" for number in (0, 1)]
    given = ("--reference", results[0], "--reference", results[1])
    done = assay("replay", captured, *given, "--chip", "m2", "--trace", tmp_path / "run.json")
    assert done.code == 0, done.err
    assert "2 dispatches run, 2 results read: 2 equal; checks: no findings" in done.out
    assert "predicted for m2: " in done.out and (tmp_path / "run.json").is_file()
    other = np.load(results[1][1:])
    other.view(np.uint32)[2] ^= 1
    np.save(tmp_path / "other.npy", other)
    done = assay("replay", captured, *given[:3], f"@{tmp_path / 'other.npy'}", "--json")
    assert done.code == 1
    (differs,) = json.loads(done.out)["differences"]
    assert (differs["buffer"], differs["index"], differs["max_ulp"]) == ("result 1", 2, 1)


def test_a_capture_of_iree_becomes_a_recording(
    assay: Callable[..., Done], captured: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.assay-recording"
    assert assay("record", captured, "--device", "emulated", "-o", file).code == 0
    assert "2 dispatches replayed: 2 equal" in assay("replay", file).out


def test_options_that_do_not_fit_a_capture_are_refused(
    assay: Callable[..., Done], captured: Path, tmp_path: Path
) -> None:
    done = assay("replay", captured, "--reference", f"@{captured.with_name('out0.npy')}")
    assert done.code == 2
    assert "the host read results of 256, 16 bytes; the references have 256" in done.err
    done = assay("replay", captured, "--trace", tmp_path / "run.json")
    assert done.code == 2 and "--trace of an .ireereplay needs --chip" in done.err
    for option, value in (("--check", "nosuch"), ("--chip", "nochip")):
        done = assay("replay", captured, option, value)
        assert done.code == 2 and f"error: {option} {value}: " in done.err
    done = assay("replay", captured, "--reference", "@nosuch.npy")
    assert done.code == 2 and "--check" not in done.err
    done = assay("record", captured, "--input", "4xf32", "--device", "emulated")
    assert done.code == 2 and "a capture has its function and inputs in it" in done.err


def test_what_a_killed_program_recorded_is_replayed_and_called_incomplete(
    assay: Callable[..., Done], script: Path, tmp_path: Path
) -> None:
    script.write_text(SCRIPT.replace("sys.exit(int(sys.argv[2]))", "sys.stdin.read()"))
    file, partial = tmp_path / "a.assay-recording", tmp_path / "a.partial.assay-recording"
    command = ["assay", "record", str(script), "--device", "emulated", "-o", str(file), "--", "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"21.0\n"
            until = time.monotonic() + 60
            while time.monotonic() < until:
                with Recording(partial) as recording:
                    if recording.count:
                        break
                time.sleep(0.05)
        finally:
            process.kill()
    assert [path.name for path in tmp_path.iterdir()].count(file.name) == 0
    done = assay("replay", file)
    assert done.code == 2 and f"{partial} is what was recorded until its process was" in done.err
    done = assay("replay", partial)
    assert done.code == 2, done.err
    assert "1 dispatch replayed: 1 equal; the recording is incomplete" in done.out
    assert f"error: {partial}: it is incomplete: what recorded it was killed" in done.err
    data = json.loads(assay("replay", partial, "--json").out)
    assert [data["passed"], data["complete"], len(data["dispatches"])] == [False, False, 1]
    plain = taken_apart(partial)
    after = plain.dispatches[0]["memories"][1]["after"]["parts"][0]
    plain.parts[after] = bytes(len(plain.parts[after]))
    put_together(plain, partial)
    partial.write_bytes(partial.read_bytes()[:-1])
    done = assay("replay", partial)
    assert (done.code, "1 different; the recording is incomplete" in done.out) == (1, True)
    script.write_text(SCRIPT)
    done = assay("record", script, "--device", "emulated", "-o", file, "--", 3, 0)
    assert done.code == 0 and f"note: {partial} is what a recording has that was" in done.err
    assert assay("replay", file).code == 0
