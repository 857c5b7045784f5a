"""What README and the documentation show is what happens."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from .commands import LONG, PAGES, ROOT, commands, steps
from .run_page import run_page

README = ROOT / "README.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if steps(page) and page.stem not in LONG],
    ids=lambda page: page.stem,
)
def test_every_command_of_a_page_does_what_the_page_shows(
    page: Path, tools: Path, tmp_path: Path
) -> None:
    run_page(page, tools, tmp_path)


def test_readme_has_one_command_that_installs_and_does_the_main_job() -> None:
    (command,) = [text for text in commands(README) if re.match(r"pip install .* && assay ", text)]
    assert command.split(" && ")[1] in [step.text for step in steps(README)], "it is run, too"


@pytest.mark.slow
def test_the_command_of_readme_that_runs_the_tests_finds_them(tools: Path) -> None:
    (command,) = [text for text in commands(README) if re.match(r"pip install .* && pytest", text)]
    # Only found, not run: this is one of them.
    done = subprocess.run(
        ["bash", "-c", f"{command.split(' && ')[1]} --collect-only -q tests/docs tests/assay/cli"],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_documented_commands.py::test_readme_has_one_command" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_install_from_a_checkout_with_extras_that_there_are(page: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for command in commands(page):
        for target in re.findall(r"pip install ([^&|;\n]+)", command):
            found = re.fullmatch(r'-e "\.(?:\[([\w,]+)\])?"\s*', target)
            assert found, f"{page.name}: {command}: is it on a package registry?"
            assert set((found[1] or "").split(",")) <= {*extras, ""}


def test_nothing_tells_people_to_install_the_package_of_somebody_else() -> None:
    foreign = re.compile(r"pip install (?:-\S+ )*[\"']?assay(?![-\w])")
    for path in [*PAGES, *ROOT.glob("*/**/*.py"), *ROOT.glob(".ci/*"), ROOT / "pyproject.toml"]:
        assert not foreign.search(path.read_text()), path
    name = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    assert name == "assay-emulator"


def test_every_command_and_option_is_in_the_reference() -> None:
    import typer

    from assay.cli.app import app

    text = (ROOT / "docs" / "reference" / "cli.md").read_text()
    group = typer.main.get_command(app)
    for name, command in group.commands.items():
        assert f"## assay {name}" in text, f"{name} is missing"
        section = text.split(f"## assay {name}\n", 1)[1].split("\n## ", 1)[0]
        for inner in getattr(command, "commands", {}):
            assert f"`assay {name} {inner} " in section, f"{name} {inner} is missing"
        for called in (command, *getattr(command, "commands", {}).values()):
            for parameter in called.params:
                for option in parameter.opts:
                    if option.startswith("--") and option != "--help":
                        assert f"`{option}" in section, f"{called.name}: {option} is missing"
