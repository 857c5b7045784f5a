"""Packages whose names are imported when they are first used: `assay --help` needs few of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: finds each name in the module that is given for it.

    Args:
        package: `__name__` of the package.
        modules: by name the module that has it, relative (".api") or absolute.
    """

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    return find
