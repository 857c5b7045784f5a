"""MTLCompileOptions: how MSL source is compiled."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from ..constants import (
    MTLLanguageVersion3_2,
    MTLLibraryOptimizationLevelDefault,
    MTLLibraryTypeExecutable,
    MTLMathFloatingPointFunctionsFast,
    MTLMathModeFast,
    MTLMathModeSafe,
)
from ..objects import UserMade, call_of, expect
from ..structs import as_integer

T = TypeVar("T")


class MTLCompileOptions(UserMade):
    """How MSL source is to be compiled.

    Deviation: fast math licenses contraction alone; NaN, infinity and order are always kept.
    """

    def __init__(self) -> None:
        self._macros: dict[str, object] = {}
        self._math_mode = MTLMathModeFast
        self._math_functions = MTLMathFloatingPointFunctionsFast
        self._language_version = MTLLanguageVersion3_2
        self._optimization = MTLLibraryOptimizationLevelDefault
        self._preserve_invariance = False
        self._logging = False

    def preprocessorMacros(self) -> Mapping[str, object]:
        """Macro names and values."""
        return self._macros

    def setPreprocessorMacros_(self, macros: Mapping[str, object] | None) -> None:
        """Set macro names and values; values are text or numbers."""
        where = call_of(self)
        self._macros = dict(expect(where, "the macros", {} if macros is None else macros, Mapping))  # type: ignore[type-abstract]

    def fastMathEnabled(self) -> bool:
        """Whether the math mode is the fast one."""
        return self._math_mode == MTLMathModeFast

    def setFastMathEnabled_(self, enabled: bool) -> None:
        """Choose the fast or the safe math mode."""
        self._math_mode = MTLMathModeFast if enabled else MTLMathModeSafe

    def mathMode(self) -> int:
        """The MTLMathMode."""
        return self._math_mode

    def setMathMode_(self, mode: int) -> None:
        """Set the MTLMathMode."""
        self._math_mode = as_integer(call_of(self), "the value", mode)

    def mathFloatingPointFunctions(self) -> int:
        """The MTLMathFloatingPointFunctions."""
        return self._math_functions

    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        """Accepted; functions are as exact in either case."""
        self._math_functions = functions

    def languageVersion(self) -> int:
        """The MTLLanguageVersion."""
        return self._language_version

    def setLanguageVersion_(self, version: int) -> None:
        """Set the MTLLanguageVersion."""
        self._language_version = as_integer(call_of(self), "the value", version)

    def optimizationLevel(self) -> int:
        """The MTLLibraryOptimizationLevel."""
        return self._optimization

    def setOptimizationLevel_(self, level: int) -> None:
        """Accepted; there is one level."""
        self._optimization = level

    def preserveInvariance(self) -> bool:
        """Whether vertex positions are to be invariant."""
        return self._preserve_invariance

    def setPreserveInvariance_(self, preserve: bool) -> None:
        """Accepted; it matters to vertex functions alone."""
        self._preserve_invariance = bool(preserve)

    def enableLogging(self) -> bool:
        """Whether messages of os_log were asked for."""
        return self._logging

    def setEnableLogging_(self, enabled: bool) -> None:
        """Accepted. Deviation: messages of os_log are kept in any case."""
        self._logging = bool(enabled)

    def libraryType(self) -> int:
        """Always MTLLibraryTypeExecutable."""
        return MTLLibraryTypeExecutable

    def compile_source(self, compile_source: Callable[..., T], source: str) -> T:
        """What a `CompileSource`, or what takes the same, gives for `source` with these options."""
        return compile_source(
            source,
            macros={name: _macro_text(value) for name, value in self._macros.items()},
            fast_math=self._math_mode != MTLMathModeSafe,
            language_version=(self._language_version >> 16, self._language_version & 0xFFFF),
        )


def _macro_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)
