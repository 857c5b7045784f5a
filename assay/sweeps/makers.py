"""Kernels of a user's own, named by the file and the function that makes them."""

from __future__ import annotations

import hashlib
import inspect
import runpy
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from assay.compiler.foundry.library import Ready

from ..foundry.kernel import Kernel
from .errors import SweepError
from .knobs import Kinds, anything
from .variants import Make, Variant


def maker_of(given: object, folder: Path) -> str:
    """`FILE:FUNCTION` with an absolute path, of the same or of a function. Raises SweepError."""
    if isinstance(given, str):
        path, _, name = given.rpartition(":")
        if path and name.isidentifier():
            return f"{(folder / path).resolve()}:{name}"
    elif inspect.isfunction(given) and given.__qualname__ == given.__name__:
        return f"{Path(inspect.getfile(given)).resolve()}:{given.__name__}"
    raise SweepError(
        f"maker {given!r}: expected FILE.py:FUNCTION, or a function of a file; workers look for it "
        "there by its name"
    )


def digest_of(maker: str) -> str:
    """Of the file's text: rows that another text made are not taken for its own."""
    path, _, _ = maker.rpartition(":")
    try:
        return hashlib.blake2b(Path(path).read_bytes(), digest_size=8).hexdigest()
    except OSError as error:
        raise SweepError(f"maker {maker}: {error.strerror}") from None


def variant_of(maker: str) -> Variant:
    """What makes its kernels, and its knobs: arguments that can only be given by name."""
    function = _function(maker, digest_of(maker))
    parameters = inspect.signature(function).parameters.values()
    kinds: Kinds = {
        each.name: (anything, "a number or a word")
        for each in parameters
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    }
    return Variant(_ready(function), kinds)


def _ready(function: Callable[..., Any]) -> Make:
    def make(*given: Any, **knobs: Any) -> Ready:
        found = function(*given, **knobs)
        return (found.declared, found.grid_of) if isinstance(found, Kernel) else found

    return make


@lru_cache(maxsize=64)
def _function(maker: str, digest: str) -> Callable[..., Any]:
    path, _, name = maker.rpartition(":")
    names: Mapping[str, Any] = runpy.run_path(path)
    if not callable(names.get(name)):
        raise SweepError(f"maker {maker}: there is no function {name} in {path}")
    found: Callable[..., Any] = names[name]
    return found
