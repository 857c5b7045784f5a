"""The source, line by line, with what each line costs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from .numbers import amount, percent
from .result import DispatchResult
from .sites import LineTime
from .text import COLOURS, SHORT, stacked

_AROUND = 2  # lines that cost nothing, shown next to those that cost something
_BAR = 12
_CAUSE = 11


def listing(dispatch: DispatchResult) -> RenderableType:
    """Every file with lines that cost something: those lines, and a few around them.

    Each with its cycles, their share, a bar of causes in proportion to the most expensive line,
    and the main cause.
    """
    by_file: dict[str, dict[int, LineTime]] = {}
    for each in dispatch.lines:
        by_file.setdefault(each.file, {})[each.line] = each
    parts: list[RenderableType] = []
    for file, lines in sorted(by_file.items(), key=lambda each: (not each[0], each[0])):
        parts += [Text(""), Text.assemble((file or "elsewhere", "bold"), f"  {dispatch.kernel}")]
        if file:
            parts += _file(dispatch, file, lines)
        else:
            parts += [
                _line(dispatch, line, "", "what no line of the source says")
                for line in lines.values()
            ]
    return Group(*parts)


def _file(dispatch: DispatchResult, file: str, lines: dict[int, LineTime]) -> Iterator[Text]:
    last = 0
    source = dispatch.sources.get(file, "").splitlines()
    digits = len(str(len(source)))
    for number, text in enumerate(source, 1):
        if all(near not in lines for near in range(number - _AROUND, number + _AROUND + 1)):
            continue
        if number > last + 1:
            yield Text(" " * (_BAR + _CAUSE + 15) + "...", "dim")
        last = number
        shown = text.expandtabs(4).rstrip()
        yield _line(dispatch, lines.get(number), f"{number:{digits}}", shown)


def _line(dispatch: DispatchResult, line: LineTime | None, number: str, text: str) -> Text:
    found = Text(no_wrap=True, overflow="ellipsis")
    if line is None:
        found.append(" " * (_BAR + _CAUSE + 15))
    else:
        share = line.cycles / dispatch.cycles if dispatch.cycles else 0.0
        cycles = amount(line.cycles, "").replace(" ", "")
        found.append(f"{cycles:>7} {percent(share):>4}  ")
        drawn = stacked(line.causes, max(each.cycles for each in dispatch.lines), _BAR)
        found.append(drawn).append(" " * (_BAR - len(drawn) + 1))
        main = line.main_cause
        found.append(f"{SHORT.get(main, main):{_CAUSE - 1}} ", COLOURS.get(main, ""))
    found.append(f"{number} ", "dim")
    return found.append(text, "" if line is not None else "dim")
