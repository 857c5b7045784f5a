"""`assay python`: PyObjC scripts, unchanged."""

import subprocess
import sys
from pathlib import Path

from assay.traces.files import read_trace

PROGRAM = Path(__file__).parents[2] / "programs" / "pyobjc_saxpy.py"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay", "python", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_a_pyobjc_script_runs_unchanged() -> None:
    done = run(PROGRAM)
    assert (done.returncode, done.stdout) == (0, "largest error: 0.0\n"), done.stderr


def test_a_script_gets_its_arguments_and_gives_its_exit_code(tmp_path: Path) -> None:
    script = tmp_path / "arguments.py"
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(7)\n")
    done = run(script, "--", "--size", 3)
    assert (done.returncode, done.stdout) == (7, "['--size', '3']\n")


def test_an_error_in_the_script_is_shown_from_the_script_on(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("import Metal\nMetal.nothing\n")
    done = run(script)
    assert done.returncode == 1
    assert 'wrong.py", line 2' in done.stderr
    assert "assay/cli" not in done.stderr


def test_a_missing_script_is_told() -> None:
    done = run("nowhere.py")
    assert done.returncode == 1
    assert done.stderr.strip() == "error: nowhere.py: there is no such file"


def test_a_script_leaves_a_timeline(tmp_path: Path) -> None:
    trace = tmp_path / "run.pftrace"
    done = run(PROGRAM, "--trace", trace, "--chip", "m4-max")
    assert (done.returncode, done.stdout) == (0, "largest error: 0.0\n"), done.stderr
    found = read_trace(trace)
    assert "M4 Max" in str(found.clock) and "saxpy" in found.names
    assert list(tmp_path.iterdir()) == [trace]


def test_a_script_that_fails_leaves_its_timeline_and_its_exit_code(tmp_path: Path) -> None:
    script, trace = tmp_path / "fails.py", tmp_path / "run.pftrace"
    script.write_text(
        f"import runpy, sys\nrunpy.run_path({str(PROGRAM)!r}, run_name='__main__')\nsys.exit(5)\n"
    )
    done = run(script, "--trace", trace)
    assert done.returncode == 5
    assert "saxpy" in read_trace(trace).names


def test_a_script_that_dispatches_nothing_is_told(tmp_path: Path) -> None:
    script, trace = tmp_path / "nothing.py", tmp_path / "run.pftrace"
    script.write_text("")
    done = run(script, "--trace", trace)
    assert done.returncode == 0 and "dispatched nothing" in done.stderr.replace("\n", " ")


def test_chips_and_traces_of_scripts_are_looked_at_before_they_run(tmp_path: Path) -> None:
    trace = tmp_path / "run.html"
    done = run(PROGRAM, "--trace", trace, "--chip", "m99")
    assert done.returncode == 2 and done.stdout == "" and "not known" in done.stderr
    done = run(PROGRAM, "--trace", "run.txt")
    assert done.returncode == 2 and "no trace format" in done.stderr.replace("\n", " ")
