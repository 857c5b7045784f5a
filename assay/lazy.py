"""Packages whose names are imported when they are first used: `assay --help` needs few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: finds each name in the module that is given for it.

    `dir` of the package, and so the Tab key, shows them all.

    Args:
        package: `__name__` of the package.
        modules: by name the module that has it, relative (".api") or absolute.
    """

    module = sys.modules[package]

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name], package), name)

    def names() -> list[str]:
        # What the package imports for itself is nobody else's business.
        own = {
            name
            for name, value in vars(module).items()
            if name.startswith("__") or isinstance(value, ModuleType)
        }
        return sorted({*own, *vars(module).get("__all__", modules)})

    vars(module)["__dir__"] = names
    return find
