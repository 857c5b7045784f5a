"""The text of a library, turned into bitcode one entry point at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.native.work_folder import work_folder

from . import constant_errors, entry, linking
from .constant_errors import ConstantError
from .errors import CompileError
from .front import clang, diagnostics, precompiled
from .rewrite.function_constants import ConstantValue, FunctionConstant
from .rewrite.kernels import EntryPoint
from .shared_text import SharedText
from .source.layout import rendered
from .together import Compiled, compiled_together

if TYPE_CHECKING:
    from .rewrite.rewrite import Rewritten

_OUTPUT = "kernel.bc"
# What clang says of precompiled headers that are damaged, gone, or older than their files.
_REFUSED = re.compile(r"(PCH|AST) file|precompiled (header|file)")
# Rounds of repairing conditional expressions; one may uncover others.
_REPAIRS = 8
# A text from so many characters on is parsed once for all kernels that are prepared.
_LARGE_TEXT = 100_000
# Texts that are kept parsed, by the values of function constants.
_MOST_SHARED = 4
_NO_CONSTANT = (
    "the variable's value is no constant expression: it does not end, goes wrong, or calls what "
    "can only be called in functions"
)
Values = tuple[tuple[int | str, ConstantValue], ...]


class TextCompiler:
    """Compiles entry points of one preprocessed text.

    Args:
        text: the library, preprocessed.
        constants: the function constants that it declares.
        file_name: what messages call the source.
        sources: gives the texts to quote from, by file name.
        fast_math: as for `CompileOptions`.
    """

    def __init__(
        self,
        text: str,
        constants: Sequence[FunctionConstant],
        file_name: str,
        sources: Callable[[], Mapping[str, str]],
        *,
        fast_math: bool,
    ) -> None:
        self._text = text
        self._constants = frozenset(constant.name for constant in constants)
        self._file_name = file_name
        self._sources = sources
        self._fast_math = fast_math
        # The text without values of function constants, rewritten; none after a repair of it.
        self._rewritten: Rewritten | None = None
        self._ahead: dict[str, Compiled] = {}  # by text, of which clang had nothing to say
        self._shares = False  # whether texts are parsed once for several kernels
        self._shared: dict[Values, SharedText] = {}

    def prepare(self, entries: Sequence[EntryPoint]) -> None:
        """Compile what will be asked for together, or have the text parsed once for all of it."""
        if self._constants or len(self._text) >= _LARGE_TEXT:
            self._shares = True
            return
        rewritten = self.rewrite({})
        if linking.TABLE not in rewritten.text:
            texts = [rewritten.text + entry.wrapper(each) for each in entries]
            self._ahead |= compiled_together(texts, self._fast_math)
        self.keep(rewritten)

    def rewrite(self, values: Mapping[int | str, ConstantValue]) -> Rewritten:
        """The rewritten text, which is the caller's to repair."""
        known = self._rewritten
        if known is not None and not values:
            self._rewritten = None
            return known
        from .rewrite.rewrite import rewrite  # only what is not in the cache needs it

        return rewrite(self._text, values)

    def keep(self, rewritten: Rewritten) -> None:
        """Take back a text without values of function constants that nothing has repaired."""
        self._rewritten = rewritten

    def shared_text(self, values: Mapping[int | str, ConstantValue]) -> SharedText | None:
        """The text parsed for several kernels; None if it is not, or calls through tables."""
        if not self._shares or linking.TABLE in self._text:
            return None
        key: Values = tuple(values.items())
        known = self._shared.pop(key, None)
        if known is None:
            known = SharedText(self._text, values, fast_math=self._fast_math)
        self._shared[key] = known
        while len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return known

    def warnings(self, options: Sequence[str]) -> tuple[str, ...]:
        """What clang warns of in a text that compiles, asked by options such as `-Wall`."""
        rewritten = self.rewrite({})
        result = precompiled.told_of(
            rewritten.text,
            self._fast_math,
            *options,
            *clang.LANGUAGE_UNWARNED,
            language=clang.LANGUAGE_WARNED,
        )
        self.keep(rewritten)
        return diagnostics.warnings(result.diagnostics, rewritten.tokens, self._sources())

    def emit(
        self,
        rewritten: Rewritten,
        described: EntryPoint | None,
        omitted: frozenset[str],
        arrays: Mapping[str, int] | None = None,
        *,
        checking: bool = False,
        logs: bool = False,
        linked: Sequence[EntryPoint] = (),
        shared: SharedText | None = None,
        values: Mapping[int | str, ConstantValue] | None = None,
    ) -> tuple[Compiled, tuple[ConstantError, ...]]:
        """One entry point, compiled (of none: only the text is checked), and what it does wrong
        in constant expressions."""
        from .rewrite.conditionals import repair

        if shared is not None and described is not None:
            known = shared.compile(
                entry.wrapper(described, omitted, arrays, checking=checking, logs=logs)
            )
            if known is not None:
                return known, ()
            rewritten = self.rewrite(values or {})
        wrapper = ""
        if linking.TABLE in rewritten.text:
            wrapper = linking.dispatcher(linked)
        if described is not None:
            wrapper += entry.wrapper(described, omitted, arrays, checking=checking, logs=logs)
        with work_folder() as folder:
            result = self._run(rewritten.text + wrapper, folder)
            for _ in range(_REPAIRS):
                if not result.status or not repair(rewritten.tokens, result.diagnostics):
                    break
                text = rendered(rewritten.tokens)
                result = self._run(text + wrapper, folder)
            if not result.status:
                return self._with_all_operations(rewritten, wrapper, result, folder)
        place = f"{described.file}:{described.line}:1" if described else f"{self._file_name}:1:1"
        raise CompileError(
            diagnostics.readable(result.diagnostics, rewritten.tokens, self._sources(), place)
        )

    def _with_all_operations(
        self, rewritten: Rewritten, wrapper: str, result: clang.ClangResult, folder: Path
    ) -> tuple[Compiled, tuple[ConstantError, ...]]:
        """What was compiled, again if it lacks operations of constants; and what is wrong there."""
        errors = self._constant_errors(rewritten, result)
        bitcode = (folder / _OUTPUT).read_bytes()
        told = constant_errors.told(errors, rewritten.tokens, bitcode)
        if constant_errors.keep_operations(rewritten.tokens, errors, bitcode):
            text = rendered(rewritten.tokens)
            if not self._run(text + wrapper, folder).status:
                bitcode = (folder / _OUTPUT).read_bytes()
        return Compiled(bitcode, result.output.decode()), told

    def _constant_errors(
        self, rewritten: Rewritten, result: clang.ClangResult
    ) -> list[ConstantError]:
        """Errors of constant expressions in the user's text; CompileError where one gives none."""
        found = constant_errors.constant_errors(result.diagnostics)
        known = not self._constants - rewritten.defined
        own = []
        for error in found:
            if error.file.startswith((str(clang.HEADERS), "<")):
                continue
            if error.kind == "no-constant" and known:
                column = constant_errors.in_source(error, rewritten.tokens).column
                raise CompileError.at(error.file, error.line, column, _NO_CONSTANT)
            if error.kind != "no-constant":
                own.append(error)
        return own

    def _run(self, text: str, directory: Path) -> clang.ClangResult:
        """Compile C++ text to `_OUTPUT`; precompiled headers that clang refuses are dropped."""
        known = self._ahead.pop(text, None)
        if known is not None:
            (directory / _OUTPUT).write_bytes(known.bitcode)
            return clang.ClangResult(status=0, output=known.printed.encode(), diagnostics="")
        fast = self._fast_math
        for last_attempt in (False, True):
            arguments = [
                *clang.LANGUAGE,
                *clang.LAYOUTS,
                *precompiled.header_arguments(text, fast),
                "-c",
                "-emit-llvm",
                "-o",
                _OUTPUT,
                "-",
            ]
            result = clang.run_clang(
                arguments, text, directory=directory, visible=precompiled.folders()
            )
            if not result.status or not _REFUSED.search(result.diagnostics):
                break
            if not last_attempt:
                precompiled.discard(text, fast)
        return result
