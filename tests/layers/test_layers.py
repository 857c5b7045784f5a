"""Imports point down the layers only: absolute from one layer to the next, relative inside one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = ("traces", "sim", "hw", "compiler", "hal", "assay")
"""Lowest first."""


def files() -> list[Path]:
    """Every source file, those that `assay/` links to once."""
    lower = [path for layer in LAYERS[:-1] for path in sorted((ROOT / layer).rglob("*.py"))]
    return lower + [path for path in sorted((ROOT / "assay").rglob("*.py")) if not linked(path)]


def linked(path: Path) -> bool:
    return path.relative_to(ROOT / "assay").parts[0] in LAYERS


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The absolute imports of a file with their lines, and relative ones that leave the layer."""
    depth = len(path.relative_to(ROOT).parts) - 1
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            if node.module == "assay":
                yield from ((node.lineno, f"assay.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            yield node.lineno, "." * node.level + (node.module or "")


def test_imports_point_down_and_stay_inside_their_package_when_relative() -> None:
    paths = files()
    assert len(paths) > 1000
    said = (
        f"{path.relative_to(ROOT)}:{line}: import of {name}: {fault}"
        for path in paths
        for line, name in imports(path)
        if (fault := wrong(path.relative_to(ROOT).parts[0], name))
    )
    assert list(said) == []


def wrong(layer: str, name: str) -> str:
    """What is wrong with an import in a layer, or nothing."""
    allowed = LAYERS[: LAYERS.index(layer)]
    parts = name.split(".")
    if name.startswith("."):
        return "across layers imports are absolute"
    if parts[0] in LAYERS[:-1]:
        return "it would load the package twice"
    if parts[0] != "assay" or layer == "assay":
        return ""
    if len(parts) == 1:
        return "a lower layer knows nothing of the public face"
    if parts[1] == layer:
        return "inside a layer imports are relative"
    return "" if parts[1] in allowed else f"{layer} may import {', '.join(allowed) or 'nothing'}"


def test_what_is_wrong_with_an_import_is_told() -> None:
    assert wrong("sim", "..traces") == "across layers imports are absolute"
    assert wrong("assay", "sim.clock") == "it would load the package twice"
    assert wrong("hw", "assay") == "a lower layer knows nothing of the public face"
    assert wrong("hw", "assay.hw.apple") == "inside a layer imports are relative"
    assert wrong("hw", "assay.hal") == "hw may import traces, sim"
    assert wrong("traces", "assay.sim") == "traces may import nothing"
    assert wrong("hw", "assay.sim") == wrong("assay", "assay.hal") == wrong("hw", "numpy") == ""


INNER = {"programs": ("commands",), "resources": ("commands", "programs")}
"""Rooms of the emulated Metal, and the rooms that each does not know."""


@pytest.mark.parametrize("room", INNER)
def test_rooms_of_the_emulated_metal_do_not_import_what_lies_above_them(room: str) -> None:
    folder = ROOT / "hal/metal/emulated"
    for path in sorted((folder / room).glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module:
                above = node.module.split(".")[0]
                assert above not in INNER[room], f"{room}/{path.name}:{node.lineno}: {above}"
