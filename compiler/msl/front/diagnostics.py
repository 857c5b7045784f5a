"""Clang's diagnostics in the words and at the places of the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from assay.sim.site import shown_line

from ..source.layout import laid_out
from ..source.lexer import Token, words_of
from .clang import HEADERS

_LINE = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<kind>(?:fatal )?error|note): (?P<text>.*)"
)
# What is wrong with options of warnings has no place.
_OF_OPTIONS = re.compile(r"(?:warning|error): unknown warning option .*")
_WARNING = re.compile(_LINE.pattern.replace("error|note", "error|warning|note"))
# What the rewriting and clang's own spelling made of MSL's words.
_WORDS = (
    (re.compile(r"__global_host "), "constant "),
    (re.compile(r"const __attribute__\(\(opencl_global_host\)\)"), "constant"),
    (re.compile(r"\bconst constant "), "constant "),
    (re.compile(r"__global_device |__global "), "device "),
    (re.compile(r"__local "), "threadgroup "),
    (re.compile(r"\b_Float16\b"), "half"),
    (re.compile(r"\b__bf16\b"), "bfloat"),
    (re.compile(r"\b__assay_static_cast\b"), "static_cast"),
    (re.compile(r"\bself_\."), ""),
    (
        re.compile(r"cannot find suitable setter for property '(\w+)'"),
        r"'\1' repeats a component, and such a swizzle is read-only",
    ),
)
# Said before that of the property, of a swizzle that repeats a component.
_NO_SETTER = re.compile(r"no member named '__put_\w+' in ")
_KEPT_NOTES = re.compile(
    r"in instantiation of|previous|declared here|candidate|requested here|to match this"
)
_INTERNAL = re.compile(r"__assay_|__ASSAY_|__piece|__numeric|__scalar_like|__common_vec|__joined")


@dataclass(frozen=True, slots=True)
class _Message:
    file: str
    line: int
    column: int
    kind: str
    text: str


def readable(
    diagnostics: str, tokens: Iterable[Token], sources: Mapping[str, str], place: str
) -> str:
    """`diagnostics` for people.

    Args:
        diagnostics: what clang wrote, without source lines.
        tokens: the rewritten tokens, for the columns.
        sources: text of the user's files by name, for quoting.
        place: file, line and column to blame when nothing better is known.
    """
    messages = [each for each in _read(_LINE, diagnostics) if not _NO_SETTER.match(each.text)]
    columns = _Columns(tokens)
    out: list[str] = []
    for group in _grouped(messages):
        text = _render_group(group, columns, sources, place)
        if text not in out:
            out.append(text)
    return "\n".join(out) or f"{place}: error: {_unplaced(diagnostics)}"


def quoted(errors: str, tokens: Iterable[Token], sources: Mapping[str, str]) -> str:
    """Errors that name places of preprocessed text, at those of the user's lines, which are shown.

    Args:
        errors: lines of which some may have what they quote behind them already.
        tokens: those of the preprocessed text.
        sources: text of the user's files by name.
    """
    columns = _Columns(tokens)
    lines = errors.split("\n")
    out: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found = _read(_WARNING, line)
        if not found or (following and not _WARNING.match(following)):
            out.append(line)
            continue
        out.append(_render(found[0], columns, sources))
    return "\n".join(out)


def _unplaced(diagnostics: str) -> str:
    """What is wrong, of diagnostics that name no place in the source."""
    said = next((line for line in diagnostics.splitlines() if "error: " in line), "")
    return said.partition("error: ")[2] or "the compiler gave up without saying why"


def warnings(
    diagnostics: str, tokens: Iterable[Token], sources: Mapping[str, str]
) -> tuple[str, ...]:
    """What clang warns of in the user's own text, each with its notes, as for `readable`.

    Those that `-Werror` names are errors; what this clang refuses by itself, others only warn of.
    """
    columns = _Columns(tokens)
    groups = _grouped([_as_asked(each) for each in _read(_WARNING, diagnostics)])
    told = (
        "\n".join(_render(each, columns, sources) for each in group if not _is_internal(each))
        for group in groups
        if not _is_internal(group[0]) and not _INTERNAL.search(group[0].text)
    )
    of_options = (f"metal: {each}" for each in filter(_OF_OPTIONS.match, diagnostics.splitlines()))
    return tuple(dict.fromkeys([*of_options, *told]))


def _as_asked(message: _Message) -> _Message:
    refused = message.kind != "note" and "[-Werror," not in message.text
    return replace(message, kind="warning") if refused else message


def _read(pattern: re.Pattern[str], diagnostics: str) -> list[_Message]:
    return [
        _Message(m["file"], int(m["line"]), int(m["column"]), m["kind"], m["text"])
        for m in map(pattern.fullmatch, diagnostics.splitlines())
        if m
    ]


def _grouped(messages: list[_Message]) -> list[list[_Message]]:
    """Each error with the notes behind it."""
    groups: list[list[_Message]] = []
    for message in messages:
        if message.kind != "note":
            groups.append([message])
        elif groups:
            groups[-1].append(message)
    return groups


def _is_internal(message: _Message) -> bool:
    return message.file.startswith((str(HEADERS), str(HEADERS.resolve()), "<"))


def _render_group(
    group: list[_Message], columns: _Columns, sources: Mapping[str, str], place: str
) -> str:
    error = group[0]
    notes = [note for note in group[1:] if not _is_internal(note)]
    if _is_internal(error):
        # The user's line is the one that asked for what failed in the headers.
        user = next(iter(notes), None)
        if user is None:
            return f"{place}: error: {_words(error.text)}"
        notes = notes[1:]
        error = _Message(user.file, user.line, user.column, error.kind, error.text)
    shown = [
        error,
        *[n for n in notes if _KEPT_NOTES.search(n.text) and not _INTERNAL.search(n.text)],
    ]
    return "\n".join(_render(message, columns, sources) for message in shown)


def _words(text: str) -> str:
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    return text


def _render(message: _Message, columns: _Columns, sources: Mapping[str, str]) -> str:
    """One message as clang prints it, with the source line and a caret."""
    lines = sources.get(message.file, "").split("\n")
    quoted = lines[message.line - 1] if 0 < message.line <= len(lines) else ""
    column = columns.find(message, quoted)
    head = f"{message.file}:{message.line}:{column}: {message.kind}: {_words(message.text)}"
    if not quoted.strip():
        return head
    indent = "".join("\t" if c == "\t" else " " for c in quoted[: column - 1])
    return f"{head}\n{shown_line(quoted.rstrip())}\n{indent}^"


class _Columns:
    """Columns of the user's lines by columns of the compiled ones."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        self._lines: dict[tuple[str, int], list[tuple[Token, int]]] = {}
        for token, _, column in laid_out(tokens):
            self._lines.setdefault((token.file, token.line), []).append((token, column))

    def find(self, message: _Message, quoted: str) -> int:
        """The column in the user's line `quoted` (from 1)."""
        line = self._lines.get((message.file, message.line), [])
        tokens = [token for token, _ in line]
        held = [
            # What was moved back to its own column may be where others still are.
            (column != message.column, token.column != column, number)
            for number, (token, column) in enumerate(line)
            if column <= message.column < column + len(token.text)
        ]
        if held:
            return _column(tokens, min(held)[-1], quoted)
        return min(message.column, len(quoted) + 1)


def _column(line: Sequence[Token], number: int, quoted: str) -> int:
    """Where the token stands in the user's line, or the macro that became it."""
    words = [each.original for each in line if each.significant]
    before = sum(each.significant for each in line[:number])
    if not line[number].significant or before >= len(words):
        return line[number].column
    written = [(word, at) for word, at in words_of(quoted) if word.strip()]
    blocks = SequenceMatcher(None, [word for word, _ in written], words, autojunk=False)
    for _, first, last, start, end in blocks.get_opcodes():
        if start <= before < end and first < last:
            return written[min(first + before - start, last - 1)][1] + 1
    return min(line[number].column, len(quoted) + 1)
