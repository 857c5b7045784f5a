"""Functions compiled by numba when first called, kept in the project's cache folder.

numba's own cache lies beside the source (which an installation may not let anyone write) and does
not notice when a function that is called changes; here the key is the text of this whole package.
"""

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from assay.sim.native.cache_folder import cache_folder

from .parts import PartCompiler, for_all_constants

_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Only compiled code calls them; wrappers for others would take a fifth of the time."""
F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` as machine code without the interpreter's lock; cached on disk."""
    dispatcher: Any = _njit(function)
    dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]  # numba's own class
    return cast(F, dispatcher)


def prepared(function: Callable[..., object]) -> bool:
    """Whether a compiled function has machine code, in memory or on disk."""
    dispatcher: Any = function
    return bool(dispatcher.overloads) or Path(dispatcher._cache._cache_file._index_path).exists()


def inlined(function: F) -> F:
    """`function` for compiled ones to call: compiled into these, not cached alone."""
    return cast(F, _part(function, forceinline=True))


def called(function: F) -> F:
    """`function` for compiled ones to call: once made, not copied into those that call it."""
    return cast(F, _part(function))


def _part(function: F, **more: object) -> object:
    """Machine code for others to link to, see `parts`."""
    return for_all_constants(_njit(function, pipeline_class=PartCompiler, **_NO_WRAPPERS, **more))


def _njit(function: F, **more: object) -> object:
    """Without numba's run-time: nothing is allocated, no references are counted."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, **more}
    return numba.njit(**options)(function)


@cache
def _package_digest() -> str:
    """Of all sources of this package."""
    state = hashlib.sha256()
    for entry in sorted(resources.files(__package__).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            state.update(entry.read_bytes())
    return state.hexdigest()


class _Locator(_CacheLocator):
    """Puts cache files into the project's cache folder."""

    def __init__(self, function: Callable[..., object], _file: str) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder of this version of the package."""
        return str(cache_folder() / "numba" / _package_digest()[:16])

    def get_source_stamp(self) -> str:
        """What must be unchanged for an entry to be of use."""
        return _package_digest()

    def get_disambiguator(self) -> str:
        """Tells functions of one name apart."""
        return str(self._line)

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> "_Locator":
        """A locator; its folder is made when something is kept."""
        return cls(function, file)


class _Files(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012  # numba's own declaration


class _Cache(FunctionCache):
    """An entry that is damaged, or a folder that cannot be written, is as if there were none."""

    _impl_class = _Files

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Machine code for argument types, or None."""
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except _DAMAGE:
            with contextlib.suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]  # numba's own
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keeps machine code, as far as the disk allows."""
        with contextlib.suppress(*_DAMAGE):
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]


_DAMAGE = (
    OSError, EOFError, pickle.PickleError, ValueError, KeyError, IndexError, TypeError,
    AttributeError, ImportError, RuntimeError,
)  # fmt: skip
"""What reading a file of pickled machine code can end in."""
