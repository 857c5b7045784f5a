"""One C text of several files: each is put where it is included first, with its name and lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable

_INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"\s*')
_ONCE = re.compile(r"\s*#\s*pragma\s+once\s*")


def joined(folder: Traversable, main: str, *, where: str, made: Mapping[str, str]) -> str:
    """The text of `main` with all that it includes by `"name"`, each file once.

    Compilers and debuggers say the true file and line of what is in it.

    Args:
        folder: where the files are.
        main: the file that includes the others.
        where: what messages put before the files' names.
        made: headers, by name, that exist here alone; files of their names are not looked at.
    """
    return "\n".join(_Reader(folder, where, made).lines_of(main)) + "\n"


@dataclass(slots=True)
class _Reader:
    folder: Traversable
    where: str
    made: Mapping[str, str]
    seen: set[str] = field(default_factory=set)

    def lines_of(self, name: str) -> list[str]:
        self.seen.add(name)
        text = self.made[name] if name in self.made else self.folder.joinpath(name).read_text()
        lines = [self._marker(1, name)]
        for number, line in enumerate(text.splitlines(), 1):
            match = _INCLUDE.fullmatch(line)
            if match is not None:
                other = match[1]
                lines += [] if other in self.seen else self.lines_of(other)
                lines.append(self._marker(number + 1, name))
            else:
                lines.append("" if _ONCE.fullmatch(line) else line)
        return lines

    def _marker(self, line: int, name: str) -> str:
        return f'#line {line} "{self.where}/{name}"'
