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


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down_and_stay_inside_their_package_when_relative(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    allowed = LAYERS[: LAYERS.index(layer)]
    for line, name in imports(path):
        where = f"{path.relative_to(ROOT)}:{line}: import of {name}"
        assert not name.startswith("."), f"{where}: across layers imports are absolute"
        parts = name.split(".")
        assert parts[0] not in LAYERS[:-1], f"{where}: it would load the package twice"
        if parts[0] != "assay" or layer == "assay":
            continue
        assert len(parts) > 1, f"{where}: a lower layer knows nothing of the public face"
        assert parts[1] != layer, f"{where}: inside a layer imports are relative"
        assert parts[1] in allowed, f"{where}: {layer} may import {', '.join(allowed) or 'nothing'}"


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
