"""Takes the commands and programs out of a documentation page."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])

LONG = {
    "checks",
    "compare",
    "compiled-libraries",
    "drop-ins",
    "pytest",
    "reading-a-timeline",
    "run-a-model",
    "timing",
    "tinygrad",
}
"""Pages whose commands take more than some seconds; README and the first run are no such pages."""

TEXTS_OF_SOURCE = {"adding-an-operation"}
"""Pages whose Python is put into a copy of the source; tests of their own do that."""

_FENCE = re.compile(r"^```(?P<kind>\w+)[^\n]*\n(?P<body>.*?)^```", re.M | re.S)
_INSTALLS = re.compile(
    r"pip install|git clone|pytest(?! -q test_)|\.ci/run|mkdocs|ruff|mypy|cd assay"
)
_THEN = re.compile(r"^pip install [^&|;]+&& ")
_PEER = re.compile(r"^(?:import|from) (torch|mlx)\b|--patch (mlx|torch)\b", re.M)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A command with what it prints, or a Python program."""

    kind: str
    """`command` or `program`."""
    text: str
    expected: str
    """Output with `...` for parts that may differ; empty when the page shows none."""
    fails: bool
    """Whether the page says that it ends with an error: `# fails` behind the command."""


def steps(page: Path) -> list[Step]:
    """All steps of a page in order; the project's own checks are left out, and installing.

    Of a command that installs and then does something, what it does then is a step.
    """
    found = []
    for match in _FENCE.finditer(page.read_text()):
        if match["kind"] == "console":
            found.extend(_commands(match["body"]))
        elif match["kind"] == "python" and page.stem not in TEXTS_OF_SOURCE:
            found.append(Step(kind="program", text=match["body"], expected="", fails=False))
    found = [replace(step, text=_THEN.sub("", step.text, count=1)) for step in found]
    return [step for step in found if not _INSTALLS.search(step.text.split("\n")[0])]


def commands(page: Path) -> list[str]:
    """All commands of a page, those too that are no steps."""
    blocks = (m["body"] for m in _FENCE.finditer(page.read_text()) if m["kind"] == "console")
    return [step.text for body in blocks for step in _commands(body)]


def peer(step: Step) -> str | None:
    """The library that a step uses and that need not be installed, or None."""
    found = _PEER.search(step.text)
    return found and (found[1] or found[2])


def _commands(body: str) -> list[Step]:
    found: list[Step] = []
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\") or _open_heredoc(lines[:count]):
            count += 1
        text = "\n".join(lines[:count])
        fails = text.rstrip().endswith("# fails")
        expected = "\n".join(lines[count:]).strip("\n")
        found.append(Step(kind="command", text=text, expected=expected, fails=fails))
    return found


def _open_heredoc(lines: list[str]) -> bool:
    match = re.search(r"<<\s*'?(\w+)'?", lines[0])
    return bool(match) and match[1] not in lines[1:]


def matches(expected: str, output: str) -> bool:
    """Whether output is as shown: `...` stands for anything, blanks at line ends do not count."""
    shown = "\n".join(line.rstrip() for line in expected.split("\n")).strip()
    got = "\n".join(line.rstrip() for line in output.split("\n")).strip()
    pattern = ".*?".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, got, re.S) is not None
