"""`assay python`: PyObjC scripts, unchanged."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "programs" / "pyobjc_saxpy.py"


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
