"""Tokens of preprocessed MSL text, with the user's file and line of each.

The text is what ``clang -E`` writes, so there are no comments and the only directives are line
markers and pragmas. Joining the token texts gives the input back, so a rewrite that changes single
tokens keeps every newline and therefore every line number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import CompileError
from .line_directives import unescaped

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\f\v\r]+)
  | (?P<newline>\n)
  | (?P<string>(?:u8|[uUL])?R"(?P<delim>[^ ()\\\t\n]{0,16})\((?s:.*?)\)(?P=delim)"
             |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
             |(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*')
  | (?P<ident>[A-Za-z_$][\w$]*)
  | (?P<number>\.?\d(?:[eEpP][+-]|['\w.])*)
  | (?P<punct>->\*?|::|\.\.\.|&&|\|\||\+\+|--|[-+*/%&|^!=]=|[^\s\w])
    """,
    re.VERBOSE,
)
LINE_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)(?:\s+"((?:[^"\\]|\\.)*)")?((?:\s+\d)*)')
_END_MARKS = 3
_OPENERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class Token:
    """One token; `kind` is space, newline, directive, string, ident, number or punct.

    `text` may be changed by a rewrite; `original` stays what the user wrote. `file`, `line` and
    `column` (from 1) are the user's, the column being that of the preprocessed line.
    """

    kind: str
    text: str
    original: str
    file: str
    line: int
    column: int

    @property
    def significant(self) -> bool:
        """Whether the parser of C++ sees this token."""
        return self.kind not in ("space", "newline", "directive")


def tokenize(text: str) -> list[Token]:
    """Split `text`; raises CompileError at a character that begins no token."""
    tokens: list[Token] = []
    file, line, start = "", 1, 0
    position, length = 0, len(text)
    line_is_blank = True
    while position < length:
        if line_is_blank and text[position] == "#":
            end = text.find("\n", position)
            end = length if end < 0 else end
            directive = text[position:end]
            tokens.append(Token("directive", directive, directive, file, line, 1))
            marker = LINE_MARKER.match(directive)
            if marker:
                line = int(marker[1]) - 1
                file = unescaped(marker[2]) if marker[2] else file
            position = end
            line_is_blank = False
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise CompileError.at(file, line, position - start + 1, "unexpected character")
        kind, value = match.lastgroup or "punct", match[0]
        kind = "string" if kind == "delim" else kind
        tokens.append(Token(kind, value, value, file, line, position - start + 1))
        position = match.end()
        newlines = value.count("\n")
        if newlines:
            line += newlines
            start = text.rfind("\n", 0, position) + 1
            line_is_blank = kind == "newline"
        elif kind != "space":
            line_is_blank = False
    return tokens


def lines_of(preprocessed: str, file: str) -> frozenset[int]:
    """The lines of a file that have tokens in a text."""
    tokens = tokenize(preprocessed)
    return frozenset(each.line for each in tokens if each.significant and each.file == file)


def words_of(line: str) -> Iterator[tuple[str, int]]:
    """The tokens of a line as the user wrote it, and where each begins (from 0)."""
    for match in _TOKEN.finditer(line):
        yield match[0], match.start()


def included_files(preprocessed: str) -> Iterator[tuple[str, str, int]]:
    """Each file that the preprocessor entered: (path, file that included it, line there)."""
    file, line = "", 0
    for text in preprocessed.split("\n"):
        marker = LINE_MARKER.match(text) if text.startswith("#") else None
        if marker is None:
            line += 1
            continue
        name = unescaped(marker[2]) if marker[2] else file
        if "1" in marker[3].split():
            yield name, file, line
        file, line = name, int(marker[1])


class TokenStream:
    """The significant tokens of a text in order, with matched brackets.

    Indices are positions in `tokens`, which leaves out spaces and directives; `all` has everything
    and `render` joins it again. What is wrong at a token and keeps nobody from reading on is noted
    in `problems`.
    """

    def __init__(self, text: str) -> None:
        self.all = tokenize(text)
        self.problems: list[CompileError] = []
        self.refresh()

    def refresh(self) -> None:
        """Number the tokens again after `remove`; what was blanked comes back into `texts`."""
        self.tokens = [token for token in self.all if token.significant]
        self.texts = [token.original for token in self.tokens]
        # A text may break off anywhere: semicolons that are never written end its last statement.
        last = self.all[-1] if self.all else Token("end", "", "", "", 1, 1)
        for _ in range(_END_MARKS):
            self.tokens.append(Token("end", "", ";", last.file, last.line, last.column))
            self.texts.append(";")
        self.match = self._match_brackets()

    def _match_brackets(self) -> dict[int, int]:
        """Index of each bracket's partner, both ways."""
        pairs: dict[int, int] = {}
        stack: list[int] = []
        for index, text in enumerate(self.texts):
            if text in _OPENERS:
                stack.append(index)
            elif text in (")", "]", "}"):
                if not stack or _OPENERS[self.texts[stack[-1]]] != text:
                    raise self.error(index, f"extraneous closing '{text}'")
                opener = stack.pop()
                pairs[opener] = index
                pairs[index] = opener
        if stack:
            raise self.error(stack[-1], f"this '{self.texts[stack[-1]]}' is never closed")
        return pairs

    def error(self, index: int, message: str) -> CompileError:
        """A CompileError at the token `index`."""
        token = self.tokens[index]
        return CompileError.at(token.file, token.line, token.column, message)

    def report(self, index: int, message: str) -> None:
        """Note what is wrong at the token `index`."""
        self.problems.append(self.error(index, message))

    def raise_problems(self) -> None:
        """A CompileError of all that was reported, if anything was."""
        if self.problems:
            raise CompileError("\n".join(map(str, self.problems)))

    def set(self, index: int, text: str) -> None:
        """Replace one token's text (on one line)."""
        self.tokens[index].text = text

    def blank(self, first: int, last: int) -> None:
        """Remove the tokens first..last (both included), keeping their newlines."""
        for index in range(first, last + 1):
            self.tokens[index].text = ""

    def remove(self, first: int, last: int) -> None:
        """Take the tokens first..last out for good; they count until the next `refresh`."""
        for index in range(first, last + 1):
            self.tokens[index].kind = "space"
            self.tokens[index].text = ""

    def before(self, index: int, text: str) -> None:
        """Put `text` in front of the token `index`."""
        token = self.tokens[index]
        token.text = text + token.text

    def after(self, index: int, text: str) -> None:
        """Put `text` behind the token `index`."""
        self.tokens[index].text += text

    def close_angle(self, index: int) -> int | None:
        """Index of the `>` that closes the `<` at `index`, or None when it is a comparison."""
        depth, position, end = 0, index, len(self.texts)
        while position < end:
            text = self.texts[position]
            if text == "<":
                # After a value, as in `sizeof(T) < 8`, it compares.
                depth += position == index or self.tokens[position - 1].kind == "ident"
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return position
            elif text in ("(", "[", "{"):
                position = self.match[position]
            elif text in (";", ")", "]", "}"):
                return None
            position += 1
        return None

    def source(self, first: int, last: int) -> str:
        """The tokens first..last (both included) as the user wrote them, spaces normalised."""
        out = ""
        for index in range(first, last + 1):
            text = self.tokens[index].original
            if (
                out
                and (out[-1].isalnum() or out[-1] == "_")
                and (text[0].isalnum() or text[0] == "_")
            ):
                out += " "
            out += text
        return out

    def render(self) -> str:
        """The whole text with every change."""
        return "".join([token.text for token in self.all])
