"""Source text with the files that it includes, each once, in place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..errors import FoundryError

_LOCAL: Final = re.compile(r'\s*#\s*include\s*"([^"]+)"')
_LINE: Final = re.compile(r'\s*#\s*line\s+(\d+)(?:\s+"([^"]*)")?')
_OWN: Final = Path(__file__).parents[1]
_ONCE: Final = re.compile(r"\s*#\s*pragma\s+once\b")


@dataclass(slots=True)
class Included:
    """Reads text and what it includes; line directives name the file of each line.

    `folders` are searched behind the including file's own.
    """

    folders: Sequence[Path] = ()
    _seen: set[Path] = field(default_factory=set)

    def of_text(self, text: str, name: str, folder: Path | None = None) -> str:
        """The text, called `name` in messages. Raises FoundryError for a file that is not there."""
        return "\n".join(self._lines(text, name, folder)) + "\n"

    def of_file(self, path: Path) -> str:
        """A file's text; nothing when it was read before. Raises FoundryError."""
        whole = path.resolve()
        if whole in self._seen:
            return ""
        self._seen.add(whole)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FoundryError("kernel-source", f"{path} cannot be read: {error}") from None
        # Texts that people take along do not tell where this package is installed.
        name = path.name if whole.is_relative_to(_OWN.resolve()) else str(path)
        return self.of_text(text, name, path.parent)

    def _lines(self, text: str, name: str, folder: Path | None) -> Iterator[str]:
        number, is_elsewhere = 1, True
        for line in text.splitlines():
            if said := _LINE.match(line):
                number, name, is_elsewhere = int(said[1]), said[2] or name, True
                continue
            if found := _LOCAL.match(line):
                path = self._find(found[1], f"{name}:{number}", folder)
                yield from filter(None, [self.of_file(path).rstrip("\n")])
                is_elsewhere = True
            elif _ONCE.match(line):
                # Every file is put in once; what says so would be told off outside a header.
                is_elsewhere = True
            else:
                if is_elsewhere:
                    yield f'#line {number} "{name}"'
                yield line
                is_elsewhere = False
            number += 1

    def _find(self, name: str, where: str, folder: Path | None) -> Path:
        folders = [each for each in (folder, *self.folders) if each is not None]
        for each in folders:
            if (each / name).is_file():
                return each / name
        looked = ", ".join(map(str, folders)) or "no folder"
        raise FoundryError(
            "kernel-source", f'{where} includes "{name}", which is not in {looked}; give `include`'
        )
