"""What begins with an underscore stays in the module whose classes have it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from .test_layers import ROOT, files


def modules(tree: ast.Module) -> set[str]:
    """Names of modules of others, such as `sys`, whose underscores are theirs."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    return {alias.asname or alias.name for node in imports for alias in node.names}


def defined(tree: ast.Module) -> set[str]:
    """Names that classes of a file define: methods, fields, and what is assigned to `self`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                found |= names(each)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and own(node):
            found.add(node.attr)
    return found


def names(statement: ast.stmt) -> set[str]:
    """Names that a statement in the body of a class defines."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def reaches(path: Path) -> Iterator[str]:
    """Private attributes that a file asks of objects of other modules."""
    tree = ast.parse(path.read_text())
    known, foreign = defined(tree), modules(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or own(node) or node.attr in known:
            continue
        # `_fields_` and the like are ctypes' own.
        if not node.attr.startswith("_") or node.attr.endswith("_"):
            continue
        if not (isinstance(node.value, ast.Name) and node.value.id in foreign):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def test_what_objects_keep_to_themselves_is_not_used_by_other_modules() -> None:
    assert [each for path in files() for each in reaches(path)] == []
