"""Refuses what clang knows and MSL has not, at the line where the program uses it.

Most of it could do no harm, as kernels only ever run what the engine knows; but the author
expects something that no GPU does.
"""

from __future__ import annotations

import re

from ..errors import CompileError
from ..source.lexer import TokenStream

# Line markers and pragmas stay in preprocessed text.
_KEPT = re.compile(r"#\s*(?:line\s+)?\d|#\s*pragma\b|#\s*$")

_WORDS = {
    **dict.fromkeys(
        ("thread_local", "_Thread_local", "__thread"), "thread-local variables are not part of MSL"
    ),
    **dict.fromkeys(("va_list", "__builtin_va_list"), "variable arguments are not part of MSL"),
    **dict.fromkeys(("throw", "try", "catch"), "exceptions are not part of MSL"),
    **dict.fromkeys(("dynamic_cast", "typeid"), "run-time types are not part of MSL"),
    **dict.fromkeys(("co_await", "co_yield", "co_return"), "coroutines are not part of MSL"),
    "__int128": "128-bit integers are not part of MSL",
    "virtual": "virtual functions are not part of MSL",
}
# Builtins of clang that reach for the host, by how their names begin.
_BUILTINS = {
    "__builtin_ia32_": "instructions of the host",
    "__builtin_cpu_": "the host's processor",
    "__builtin_va_": "variable arguments",
    "__builtin_alloca": "memory of a size that is not known",
    "__builtin_trap": "stopping the process",
    "__builtin_debugtrap": "stopping the process",
    "__builtin_verbose_trap": "stopping the process",
    "__builtin_return_address": "the stack",
    "__builtin_extract_return_addr": "the stack",
    "__builtin_frame_address": "the stack",
    "__builtin_setjmp": "the stack",
    "__builtin_longjmp": "the stack",
    "__builtin_unwind_init": "the stack",
    "__builtin_eh_": "the stack",
    "__builtin_call_with_static_chain": "the stack",
    "__builtin_read": "the host's counters",
    "__builtin_thread_pointer": "the host's threads",
    "__builtin_printf": "the host's C library",
    "__builtin_fprintf": "the host's C library",
    "__builtin_operator_new": "the heap",
    "__builtin_operator_delete": "the heap",
    "__builtin_malloc": "the heap",
    "__builtin_free": "the heap",
}
# Attributes of clang that are about programs of the host.
_ATTRIBUTES = frozenset(
    {
        "constructor",
        "destructor",
        "section",
        "ifunc",
        "alias",
        "weakref",
        "init_priority",
        "naked",
        "interrupt",
        "target_clones",
    }
)
_ATTRIBUTE_WORDS = frozenset({"__attribute__", "__attribute", "__declspec"})


def refuse_foreign(stream: TokenStream) -> None:
    """Report every use of host builtins, directives made by macros and such."""
    _refuse_directives(stream)
    texts = stream.texts
    for index, text in enumerate(texts):
        if text in _WORDS:
            stream.report(index, f"'{text}': {_WORDS[text]}")
        elif text.startswith("__builtin_"):
            for start, what in _BUILTINS.items():
                if text.startswith(start):
                    stream.report(index, f"'{text}': {what} cannot be reached from MSL")
                    break
        elif text in _ATTRIBUTE_WORDS:
            _refuse_attribute(stream, index)
        elif text == "gnu" and texts[index + 1 : index + 2] == ["::"]:
            if _bare(texts[index + 2]) in _ATTRIBUTES:
                _foreign_attribute(stream, index + 2)
        elif text == "goto" and texts[index + 1 : index + 2] == ["*"]:
            stream.report(index, "'goto *': computed jumps are not part of MSL")


def _refuse_directives(stream: TokenStream) -> None:
    """Directives that are left after preprocessing came out of macros; no compiler obeys them."""
    for token in stream.all:
        if token.kind == "directive" and not _KEPT.match(token.text):
            stream.problems.append(
                CompileError.at(
                    token.file, token.line, token.column, "a macro cannot make a directive"
                )
            )


def _refuse_attribute(stream: TokenStream, start: int) -> None:
    """Look through `__attribute__((...))`."""
    if start + 1 not in stream.match:
        return
    for index in range(start + 2, stream.match[start + 1]):
        if _bare(stream.texts[index]) in _ATTRIBUTES:
            _foreign_attribute(stream, index)


def _foreign_attribute(stream: TokenStream, index: int) -> None:
    stream.report(index, f"attribute '{stream.texts[index]}' is not part of MSL")


def _bare(name: str) -> str:
    return name.removeprefix("__").removesuffix("__")
