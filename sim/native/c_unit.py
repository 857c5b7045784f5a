"""C code of this project: where its files are, what it shares with Python, how it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Protocol

from .c_text import joined


class Code(Protocol):
    """Machine code in memory."""

    def address(self, symbol: str) -> int:
        """Address of a function."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CUnit:
    """One translation unit: freestanding C11 that calls nothing but itself.

    Attributes:
        kind: the cache's name for it.
        package: the package whose folder has its files, or the folder of `main`.
        main: the file that includes all others of it, perhaps in a folder of the package.
        header: the name of the header that Python makes. A copy for editors and readers lies
            beside `main`; it is not read.
        declared: makes that header's text.
        functions: those that code loaded later may call by name.
    """

    kind: str
    package: str
    main: str
    header: str
    declared: Callable[[], str]
    functions: tuple[str, ...] = ()

    def source(self) -> str:
        """The whole text, headers included."""
        main = PurePosixPath(self.main)
        folder, where = files(self.package), PurePosixPath(*self.package.split("."))
        for part in main.parts[:-1]:
            folder, where = folder / part, where / part
        made = {self.header: self.declared()}
        return joined(folder, main.name, where=str(where), made=made)

    @property
    def header_path(self) -> str:
        """Where the header's copy lies, in a checkout: `assay/` is where packages are."""
        return str(PurePosixPath(*self.package.split("."), self.main).with_name(self.header))

    def is_cached(self) -> bool:
        """Whether its machine code is at hand, so that loading it takes no time."""
        from .c_code import is_cached

        return is_cached(self.source(), self.kind)

    def load(self) -> Code:
        """Compile it, or take it from the cache, and make its functions known to the linker."""
        from .c_code import load_c

        return load_c(self.source(), self.kind, self.functions)
