"""What README and the documentation show is what happens."""

import importlib.util
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.docs.commands import PAGES, ROOT, matches, peer, steps


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `assay`, `python` and `pytest` that run this tree."""
    folder = tmp_path_factory.mktemp("bin")
    plugin = "" if entry_points(group="pytest11", name="assay") else " -p assay.pytest_plugin"
    runs = {"assay": " -m assay", "python": "", "pytest": f" -m pytest{plugin}"}
    for name, arguments in runs.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if steps(page)], ids=lambda page: page.stem
)
def test_every_command_of_a_page_does_what_the_page_shows(
    page: Path, tools: Path, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
        "PYTHONWARNINGS": "error",
    }
    for step in steps(page):
        library = peer(step)
        if library is not None and importlib.util.find_spec(library) is None:
            continue
        command = (
            ["bash", "-c", step.text]
            if step.kind == "command"
            else [sys.executable, "-c", step.text]
        )
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        assert (done.returncode != 0) == step.fails, f"{step.text}\n{done.stdout}"
        assert "Traceback" not in done.stdout, done.stdout
        if step.expected:
            assert matches(step.expected, done.stdout), (
                f"{page.name} shows for {step.text}:\n{step.expected}\n--- got ---\n{done.stdout}"
            )


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
