"""Draws `lanes.svg`: which lanes of two kernels run, and where they are in vectors.

    python docs/images/lanes.py

The lanes are those that the engine finds; nothing is drawn by hand.
"""

from __future__ import annotations

from pathlib import Path

from assay.compiler.msl import compile_library
from assay.sim.simt.emit.values import Values
from assay.sim.simt.ir.shape import LANES, Shape

_HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
_PARAMETERS = """(device const float* a [[buffer(0)]], device float* out [[buffer(1)]],
    uint3 g [[threadgroup_position_in_grid]], uint3 l [[thread_position_in_threadgroup]])"""
_KERNELS = (
    (
        "guard",
        "if (l.y * 4 < 8) out[l.y * 2 + l.x] = …;   2 x 64 threads",
        f"""kernel void guard{_PARAMETERS} {{
            if (l.y * 4 < 8) out[l.y * 2 + l.x] = a[l.y * 2 + l.x];
        }}""",
        (2, 64, 1),
    ),
    (
        "rows",
        "if (l.x < 2) out[g.x / 7 * 14 + g.x % 7 * 2 + l.x] = …;   16 x 2 threads",
        f"""kernel void rows{_PARAMETERS} {{
            if (l.x < 2) for (uint i = 0; i < 9; i++)
                out[(g.x / 7 + i) * 14 + g.x % 7 * 2 + l.x] = a[i * 14 + g.x % 7 * 2 + l.x];
        }}""",
        (16, 2, 1),
    ),
)
_CELL, _LEFT, _ROW = 16, 120, 30
_KEPT, _LEFT_OUT = ("#4c78d0", "#e2954a"), "#d9d9d9"


def main() -> None:
    """Write the picture beside this file."""
    parts: list[str] = []
    top = 12
    for name, title, source, size in _KERNELS:
        program = compile_library(_HEAD + source).function(name).program()
        values = Values(program.function, Shape(size=size, nominal=size), packed=True)
        top = _draw(parts, top, title, values.kept, values.groups)
    width = _LEFT + LANES * _CELL + 12
    style = "text{font:12px sans-serif;fill:#333}.n{font-size:9px;fill:#fff;text-anchor:middle}"
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" '
            f'width="{width}" height="{top}">',
            f"<style>{style}</style>",
            f'<rect width="{width}" height="{top}" fill="#fff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
    (Path(__file__).parent / "lanes.svg").write_text(text)


def _draw(
    parts: list[str], top: int, title: str, kept: tuple[int, ...], groups: tuple[int, ...]
) -> int:
    """A row for each threadgroup's first simdgroup, and one for the vector; returns the end."""
    parts.append(f'<text x="8" y="{top + 12}" style="font-family:monospace">{title}</text>')
    top += 20
    places: dict[tuple[int, int], int] = {}
    for group in range(max(groups) + 1):
        parts.append(f'<text x="8" y="{top + 12}">threadgroup {group}</text>')
        mine = {lane for lane, its in zip(kept, groups, strict=True) if its == group}
        for lane in range(LANES):
            colour = _KEPT[group % 2] if lane in mine else _LEFT_OUT
            _cell(parts, lane, top, colour, str(lane) if lane in mine else "")
            places[group, lane] = top
        top += 20
    top += _ROW
    parts.append(f'<text x="8" y="{top + 12}">one vector</text>')
    for place, (lane, group) in enumerate(zip(kept, groups, strict=True)):
        start = _LEFT + lane * _CELL + _CELL // 2, places[group, lane] + _CELL
        end = _LEFT + place * _CELL + _CELL // 2, top
        parts.append(
            f'<path d="M{start[0]},{start[1]} C{start[0]},{top - 12} {end[0]},{start[1] + 12} '
            f'{end[0]},{end[1]}" fill="none" stroke="{_KEPT[group % 2]}" stroke-opacity="0.6"/>'
        )
        _cell(parts, place, top, _KEPT[group % 2], str(lane))
    return top + 32


def _cell(parts: list[str], column: int, top: int, colour: str, text: str) -> None:
    x = _LEFT + column * _CELL
    parts.append(
        f'<rect x="{x}" y="{top}" width="{_CELL - 2}" height="{_CELL}" rx="2" fill="{colour}"/>'
    )
    if text:
        parts.append(f'<text class="n" x="{x + _CELL // 2 - 1}" y="{top + 11}">{text}</text>')


if __name__ == "__main__":
    main()
