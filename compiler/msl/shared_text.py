"""A library's text, precompiled: each of its kernels costs the compiler its wrapper and its code.

Parsing a large library takes far longer than one of its kernels. Texts differ by the values of
function constants, and by repairs that some kernels need.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.native.work_folder import work_folder

from .errors import CompileError
from .front import clang, precompiled
from .rewrite.function_constants import ConstantValue
from .source.layout import rendered
from .together import Compiled

if TYPE_CHECKING:
    from .rewrite.rewrite import Rewritten

_REPAIRS = 8
_OUTPUT = "kernel.bc"
_MARKER = re.compile(r'^(#\s*(?:line\s+)?\d+\s+)"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_STAND_IN = "/assay-file-{:06}"


class SharedText:
    """One library with one set of function constants; it lives in a temporary folder.

    Args:
        text: the preprocessed library.
        values: of function constants.
        fast_math: as for `CompileOptions`.
    """

    def __init__(
        self, text: str, values: Mapping[int | str, ConstantValue], *, fast_math: bool
    ) -> None:
        from .rewrite.rewrite import rewrite

        self._rewritten: Rewritten = rewrite(text, values)
        self._fast_math = fast_math
        self._names: dict[str, str] = {}  # stand-in by the name of a file
        self._headers: list[Path] = []  # the text, and what repairs made of it
        with ExitStack() as stack:
            self._folder = stack.enter_context(work_folder())
            self._close = weakref.finalize(self, stack.pop_all().close)

    @property
    def rewritten(self) -> Rewritten:
        """The text as C++; its tokens may be repaired."""
        return self._rewritten

    def compile(self, wrapper: str) -> Compiled | None:
        """What the wrapper asks for, compiled; None if clang has anything to say against it."""
        from .rewrite.conditionals import repair

        for number in range(_REPAIRS):
            if number == len(self._headers) and not self._precompile():
                return None
            result = self._run(self._headers[number], wrapper)
            if not result.status:
                if result.diagnostics:
                    return None
                bitcode = (self._folder / _OUTPUT).read_bytes()
                return Compiled(bitcode, result.output.decode())
            is_last = number + 1 == len(self._headers)
            if is_last and not repair(self._rewritten.tokens, self._own_names(result.diagnostics)):
                return None
        return None

    def _precompile(self) -> bool:
        """Parse the text as it is now; whether clang had nothing to say."""
        text = rendered(self._rewritten.tokens)
        header = self._folder / f"{len(self._headers)}.pch"
        arguments = [
            *clang.LANGUAGE_HEADER,
            *precompiled.header_arguments(self._rewritten.text, self._fast_math),
            "-fpch-instantiate-templates",
            "-Xclang",
            "-fno-pch-timestamp",
            "-o",
            header.name,
            "-",
        ]
        result = self._clang(arguments, self._with_stand_ins(text))
        if result is None or result.status or result.diagnostics:
            return False
        self._headers.append(header)
        return True

    def _run(self, header: Path, wrapper: str) -> clang.ClangResult:
        options = precompiled.header_arguments(self._rewritten.text, self._fast_math)
        arguments = [
            *clang.LANGUAGE,
            *clang.LAYOUTS,
            *[option for option in options if option.startswith("-D")],
            "-include-pch",
            header.name,
            *[f"-fdebug-prefix-map={mark}={name}" for name, mark in self._names.items()],
            "-c",
            "-emit-llvm",
            "-o",
            _OUTPUT,
            "-",
        ]
        result = self._clang(arguments, self._with_stand_ins(wrapper))
        return result or clang.ClangResult(status=1, output=b"", diagnostics="")

    def _clang(self, arguments: list[str], text: str) -> clang.ClangResult | None:
        visible = [*precompiled.folders(), self._folder]
        try:
            return clang.run_clang(arguments, text, directory=self._folder, visible=visible)
        except CompileError:
            return None

    def _with_stand_ins(self, text: str) -> str:
        """The text with absolute names for its files: clang makes those absolute that are not."""

        def named(match: re.Match[str]) -> str:
            mark = self._names.setdefault(match[2], _STAND_IN.format(len(self._names)))
            return f'{match[1]}"{mark}"'

        return _MARKER.sub(named, text)

    def _own_names(self, diagnostics: str) -> str:
        for name, mark in self._names.items():
            diagnostics = diagnostics.replace(mark, name.replace('\\"', '"').replace("\\\\", "\\"))
        return diagnostics
