"""Gathers and scatters of large kernels, called instead of written out.

Without an instruction for it the code generator makes a branch for each lane of each access, and
some of its passes take time that grows with the square of a function's blocks: a kernel of a
thousand gathers took minutes to compile.
"""

from __future__ import annotations

import re

# Accesses of a kernel that are written out; a call hands addresses over in memory.
_MOST_WRITTEN_OUT = 64
_ACCESS = re.compile(r"@llvm\.masked\.(gather|scatter)\.v(\d+)([a-z]\w+)\.v\2p0(?=\()")
_TYPES = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


def with_gathers_called(text: str) -> str:
    """LLVM IR whose gathers and scatters, if there are many, are calls, of one function a type."""
    lines = text.splitlines()
    calls = [n for n, line in enumerate(lines) if " call " in line and _ACCESS.search(line)]
    if len(calls) <= _MOST_WRITTEN_OUT:
        return text
    used: dict[tuple[str, str, str], None] = {}
    for number in calls:
        found = _ACCESS.search(lines[number])
        assert found is not None
        used[found[1], found[2], found[3]] = None
        lines[number] = lines[number].replace(found[0], f"@{_name(found[1], found[3])}")
    return "\n".join([*lines, *[_definition(*each) for each in used], ""])


def _name(kind: str, type: str) -> str:
    return f"assay_{kind}_{type}"


def _definition(kind: str, lanes: str, type: str) -> str:
    vector = f"<{lanes} x {_TYPES.get(type, type)}>"
    pointers, mask = f"<{lanes} x ptr> %at", f"<{lanes} x i1> %mask"
    intrinsic = f"@llvm.masked.{kind}.v{lanes}{type}.v{lanes}p0"
    if kind == "gather":
        taken = f"{pointers}, {mask}, {vector} %else"
        result, call, end = vector, f"%loaded = call {vector}", f"ret {vector} %loaded"
    else:
        taken = f"{vector} %value, {pointers}, {mask}"
        result, call, end = "void", "call void", "ret void"
    return "\n".join(
        [
            f"define internal {result} @{_name(kind, type)}({taken}) noinline nounwind {{",
            f"  {call} {intrinsic}({taken})",
            f"  {end}",
            "}",
        ]
    )
