"""Runs a page: its commands and programs, one after the other, in one folder."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from .commands import ROOT, matches, peer, steps


def run_page(page: Path, tools: Path, folder: Path) -> None:
    """Do what `page` shows in `folder` with the programs of `tools`; compare what is printed."""
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
        warnings = {"PYTHONWARNINGS": "ignore"} if step.text.startswith("pip ") else {}
        done = subprocess.run(
            command,
            cwd=folder,
            env={**environment, **warnings},  # those of pip are not ours
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
