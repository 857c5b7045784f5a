"""A kernel's code as a text with lines, for libraries that do not say where their source is.

Each instruction gets the line on which it stands in the listing as its place, so that findings,
times and coverage can point at it as they do at source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_DEFINE = re.compile(r"^define .*\{$")
_ATTRIBUTES = re.compile(r" #\d+(?= |$|,)")
_METADATA = re.compile(r"(?:, | )![\w.]+ !\d+")
_PHI_REST = re.compile(r"^\s+\[|^\s+i\d+ -?\d+, label |^  \]")
# A variable of a function: its own name comes last in the mangled one.
_LOCAL = re.compile(r"@_ZZ\w*E\d+([A-Za-z_]\w*(?:\.\d+)?)")
_VERSION = '!{i32 2, !"Debug Info Version", i32 3}'
_HIGHEST = re.compile(r"^!(\d+) = ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listing:
    """A module whose instructions have places, and the text that these are in."""

    module: str
    text: str


def with_own_places(module: str) -> str:
    """A module with places of its own, which LLVM drops unless a flag tells their version."""
    flags = 1 + max(int(number) for number in _HIGHEST.findall(module))
    return f"{module}\n!llvm.module.flags = !{{!{flags}}}\n!{flags} = {_VERSION}\n"


def listed(module: str, file_name: str, names: Mapping[int, str]) -> Listing:
    """The listing of a module's functions, and the module with its lines as places.

    `names` are what the kernel's parameters are called, by their numbers; they stand in front.
    """
    first = 1 + max((int(number) for number in _HIGHEST.findall(module)), default=-1)
    scopes: list[str] = []
    lines = ["; " + ", ".join(f"%{number} {name}" for number, name in names.items()), ""]
    out: list[str] = []
    scope = 0
    for line in module.split("\n"):
        if line.startswith("define "):
            lines += [""] if scopes else []
            lines.append(_plain(line))
            scope = first + 3 + len(scopes)
            scopes.append(_subprogram(scope, line, len(lines), first))
            out.append(_ATTRIBUTED.sub(rf" !dbg !{scope} {{", line))
        elif scope and line == "}":
            lines.append(line)
            out.append(line)
            scope = 0
        elif scope:
            lines.append(_plain(line))
            out.append(_placed(line, len(lines), scope))
        else:
            out.append(line)
    return Listing(
        "\n".join([*out, *_unit(file_name, first), *scopes, ""]), "\n".join(lines) + "\n"
    )


_ATTRIBUTED = re.compile(r" \{$")


def _placed(line: str, number: int, scope: int) -> str:
    """An instruction with its line; labels and the rest of a switch stay as they are."""
    is_instruction = line.startswith("  ") and not _PHI_REST.match(line) and not line.endswith("[")
    if not is_instruction:
        return line
    return f"{line}, !dbg !DILocation(line: {number}, column: 1, scope: !{scope})"


def _plain(line: str) -> str:
    """A line without metadata, with AIR's numbers of address spaces and short names."""
    line = _METADATA.sub("", _ATTRIBUTES.sub("", line)).rstrip()
    return _LOCAL.sub(r"@\1", line.replace("addrspace(6)", "addrspace(2)"))


def _subprogram(number: int, define: str, line: int, first: int) -> str:
    found = re.search(r"@(\"[^\"]*\"|[\w.$]+)\(", define)
    name = (found[1] if found else "kernel").strip('"').replace("\\", "")
    return (
        f'!{number} = distinct !DISubprogram(name: "{name}", scope: !{first + 1}, '
        f"file: !{first + 1}, line: {line}, type: !{first + 2}, scopeLine: {line}, "
        f"spFlags: DISPFlagDefinition, unit: !{first})"
    )


def _unit(file_name: str, first: int) -> list[str]:
    quoted = file_name.replace("\\", "\\5C").replace('"', "\\22")
    flags = first + 1_000_000
    return [
        f"!llvm.dbg.cu = !{{!{first}}}",
        f"!llvm.module.flags = !{{!{flags}}}",
        f"!{flags} = {_VERSION}",
        f"!{first} = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !{first + 1}, "
        "emissionKind: LineTablesOnly)",
        f'!{first + 1} = !DIFile(filename: "{quoted}", directory: "")',
        f"!{first + 2} = !DISubroutineType(types: !{{}})",
    ]
