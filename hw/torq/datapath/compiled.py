"""Functions compiled by numba when first called, kept in the project's cache folder.

numba's own cache lies beside the source (which an installation may not let anyone write) and does
not notice when a function that is called changes; here the key is the text of this whole package.
"""

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

from assay.sim.cache_folder import cache_folder
from assay.sim.simt.disk_cache import DiskCache, digest

from .parts import PartCompiler, for_all_constants

_KIND = "numba"
_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Only compiled code calls them; wrappers for others would take a fifth of the time."""
F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` as machine code without the interpreter's lock; cached on disk."""
    dispatcher: Any = _njit(function)
    dispatcher._cache = _Cache(function)
    return cast(F, dispatcher)


def prepared(function: Callable[..., object]) -> bool:
    """Whether a compiled function has machine code, in memory or on disk."""
    dispatcher: Any = function
    return bool(dispatcher.overloads) or dispatcher._cache._cache_file.exist()


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
    """Names functions for numba; where entries lie, `_Entries` says."""

    def __init__(self, function: Callable[..., object], _file: str) -> None:
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder of entries."""
        return str(cache_folder() / _KIND)

    def ensure_cache_path(self) -> None:
        """Nothing: a folder is made when something is kept."""

    def get_source_stamp(self) -> str:
        """What must be unchanged for an entry to be of use."""
        return _package_digest()

    def get_disambiguator(self) -> str:
        """Tells functions of one name apart."""
        return str(self._line)

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> "_Locator":
        """A locator for any function."""
        return cls(function, file)


class _Entries:
    """What numba keeps of one function, in files whose damage is noticed before they are used."""

    def __init__(self, function: str) -> None:
        self._cache = DiskCache(_KIND)
        self._function = digest(_package_digest(), numba.__version__, function)

    def load(self, key: object) -> object:
        """What was kept for argument types and a processor, or None."""
        raw = self._cache.get(self._key(key))
        return None if raw is None else pickle.loads(raw)

    def save(self, key: object, data: object) -> None:
        """Keep it, and that there is something."""
        self._cache.put(self._key(key), dumps(data))  # type: ignore[no-untyped-call]  # numba's own
        self._cache.put(self._function, b"")

    def exist(self) -> bool:
        """Whether something was kept."""
        return self._cache.get(self._function) is not None

    def flush(self) -> None:
        """Nothing: what is out of date has another name."""

    def _key(self, key: object) -> str:
        return digest(self._function, repr(key))


class _Files(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012  # numba's own declaration


class _Cache(FunctionCache):
    """An entry that is damaged, or a folder that cannot be written, is as if there were none."""

    _impl_class = _Files

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba's own
        self._cache_file: Any = _Entries(self._impl.filename_base)
