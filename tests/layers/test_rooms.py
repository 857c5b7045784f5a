"""Inside a layer imports point down the rooms only, and no folder holds too much."""

import ast
from collections.abc import Iterator
from pathlib import Path

from . import rooms
from .test_layers import LAYERS, ROOT, files

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in files()
}
LAYERED = sorted(module for module in FILES if module.partition(".")[0] in LAYERS[:-1])


def run_time_nodes(tree: ast.AST, late: bool) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see; if `late`, those in functions too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.FunctionDef) and not late:
            continue
        yield node
        yield from run_time_nodes(node, late)


def imported(module: str) -> Iterator[tuple[int, str]]:
    """The modules of the same layer that a module imports when it runs, with the lines."""
    path = FILES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in run_time_nodes(ast.parse(path.read_text()), module not in rooms.LATE):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1])
            name = f"{base}.{node.module}" if node.module else base
            for alias in node.names:
                whole = f"{name}.{alias.name}"
                yield node.lineno, whole if whole in FILES else name


def test_imports_point_down_the_rooms_of_a_layer() -> None:
    assert len(LAYERED) > 1000
    said = (
        f"{FILES[module].relative_to(ROOT)}:{line}: import of {other}: {fault}"
        for module in LAYERED
        for line, other in imported(module)
        if (fault := wrong(module, other))
    )
    assert list(said) == []


def wrong(module: str, other: str) -> str:
    """What is wrong with an import in a module, or nothing."""
    if rooms.rank(other) > rooms.rank(module):
        return "it points up"
    if any(rooms.within(other, stranger) for stranger in rooms.strangers(module)):
        return "they know nothing of each other"
    return ""


def test_every_room_of_the_order_is_there() -> None:
    assert rooms.unknown(FILES) == []


def test_no_folder_holds_more_modules_than_a_reader_can_keep_in_mind() -> None:
    folders: dict[Path, int] = {}
    for path in files():
        if path.name != "__init__.py":
            folders[path.parent] = folders.get(path.parent, 0) + 1
    full = {str(f.relative_to(ROOT)): n for f, n in folders.items() if n > rooms.MOST_MODULES}
    assert full == {}


def test_what_is_wrong_with_an_import_of_a_room_is_told() -> None:
    assert wrong("sim.native.c_unit", "sim.simt.run") == "it points up"
    assert wrong("sim.simt.run", "sim.native.c_unit") == ""
