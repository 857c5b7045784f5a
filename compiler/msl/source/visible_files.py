"""The files that the compiler can see: a file system of its own, in which there is nothing else.

An overlay in clang's notation lists whole folders; what lies elsewhere does not exist for
`#include`, `#embed`, `__has_include` and pragmas, however a program writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

_FILE = "visible-files.json"


def write_overlay(folders: Iterable[Path], directory: Path) -> list[str]:
    """Put the overlay into `directory`; returns the arguments that make clang use it."""
    names = {str(name) for folder in folders for name in (folder.absolute(), folder.resolve())}
    roots = [
        {"name": name, "type": "directory-remap", "external-contents": name}
        for name in sorted(names)
        if Path(name).is_dir()
    ]
    overlay = {
        "version": 0,
        "case-sensitive": "true",
        "redirecting-with": "redirect-only",
        "roots": roots,
    }
    path = directory / _FILE
    path.write_text(json.dumps(overlay))
    return ["-ivfsoverlay", str(path)]
