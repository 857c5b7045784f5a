"""The kernels of several sources as one library."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.sim.names import choices

from ..msl import CompileError, ConstantValue, FunctionConstant, KernelFunction, Library
from ..msl.opening import compile_library
from .stored import StoredLibrary, Unit


class SourceLibrary:
    """What `assay metal` wrote; `name` is what messages call it. It offers what libraries do.

    Raises:
        CompileError: if a text does not compile, or two have a function of the same name.
    """

    def __init__(self, stored: StoredLibrary, name: str) -> None:
        self.file_name = name
        self.stored = stored
        self._parts = [_compiled(unit) for unit in stored.units]
        self._kernels = self._by_name(lambda part: part.function_names)
        self._visible = self._by_name(lambda part: part.visible_names)

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in the order of the units."""
        return tuple(self._kernels)

    @property
    def visible_names(self) -> tuple[str, ...]:
        """Names of the visible functions, in the order of the units."""
        return tuple(self._visible)

    @functools.cached_property
    def constants(self) -> tuple[FunctionConstant, ...]:
        """The function constants of all units, by index; those of several may share one."""
        found = {(c.index, c.name): c for part in self._parts for c in part.constants}
        return tuple(constant for _, constant in sorted(found.items()))

    def constants_of(self, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants that a kernel may depend on."""
        part = self._kernels.get(name)
        return part.constants_of(name) if part is not None else ()

    def places(self) -> Mapping[str, tuple[str, int]]:
        """File and line of each kernel."""
        return {name: place for part in self._parts for name, place in part.places().items()}

    def sources(self) -> Mapping[str, str]:
        """The files that the units came from."""
        return {name: text for unit in self.stored.units for name, text in unit.sources.items()}

    def lines_of(self, file: str) -> frozenset[int]:
        """Lines of a file of which the compiler saw something in any unit."""
        return frozenset().union(*(part.lines_of(file) for part in self._parts))

    def prepare(self, names: Iterable[str]) -> None:
        """Compile kernels that will be asked for together."""
        wanted = set(names)
        for part in self._parts:
            part.prepare([name for name in part.function_names if name in wanted])

    def function(
        self,
        name: str,
        constants: Mapping[int | str, ConstantValue] | None = None,
        *,
        linked: Sequence[str] = (),
    ) -> KernelFunction:
        """The kernel `name` with values of function constants. Raises CompileError."""
        part = self._kernels.get(name)
        if part is None:
            said = choices(name, self._kernels)
            raise CompileError(f"no kernel function '{name}' in this library; {said}")
        for each in linked:
            if each in self._visible and self._visible[each] is not part:
                raise CompileError(
                    f"{self.file_name}: visible function '{each}' and kernel '{name}' are of two "
                    "source files; put both into one"
                )
        return part.function(name, constants, linked=linked)

    def _by_name(self, names_of: Callable[[Library], Iterable[str]]) -> dict[str, Library]:
        found: dict[str, Library] = {}
        for part in self._parts:
            for name in names_of(part):
                if name in found:
                    files = (found[name].file_name, part.file_name)
                    where = " and in ".join(files) if len(set(files)) > 1 else f"{files[0]}, twice"
                    raise CompileError(
                        f"{self.file_name}: error: function '{name}' is defined in {where}"
                    )
                found[name] = part
        return found


def _compiled(unit: Unit) -> Library:
    return compile_library(unit.text, options=unit.options, file_name=unit.file_name)
