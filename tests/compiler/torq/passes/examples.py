"""Examples in the docstrings of passes: read, run and written.

What stands in an example is the body of a function. Its arguments are the names that nothing
defines; its result is the last value. `tensor<...>` is TorqHL's, `-128 to 127` and `0 x 256` in
arrays stand for all those numbers, and a line that is indented more belongs to the one before.
"""

from __future__ import annotations

import re
import textwrap

_NAME = re.compile(r"%\w+")


def example(docstring: str) -> tuple[str, str]:
    """What stands behind Before and behind After."""
    text = textwrap.dedent(docstring)
    before = text.index("Before:\n")
    after = text.index("After:\n")
    return _lines(text[before + 8 : after]), _lines(text[after + 7 :])


def _lines(text: str) -> str:
    lines: list[str] = []
    for line in textwrap.dedent(text).strip("\n").splitlines():
        if line.startswith(" "):
            lines[-1] += " " + line.strip()
        elif line:
            lines.append(line)
    return "\n".join(lines)


def module(body: str, *, plain: bool = False) -> str:
    """A whole module with the example as its function."""
    text = body if plain else re.sub(r"(?<![\w!.])tensor<", "!torq_hl.tensor<", body)
    text = re.sub(r"(dense<[^>]*> : )!torq_hl\.", r"\1", text)
    text = re.sub(r"array<i64: ([^>]*)>", lambda m: f"array<i64: {_numbers(m[1])}>", text)
    arguments = _arguments(text)
    last = text.splitlines()[-1]
    name, kind = last.split(" = ")[0].strip(), last.rsplit("-> ")[-1].strip()
    return (
        f"builtin.module {{\n func.func @main({arguments}) -> {kind} {{\n{text}\n"
        f" func.return {name} : {kind}\n }}\n}}"
    )


def _numbers(text: str) -> str:
    parts = []
    for part in text.split(", "):
        if " to " in part:
            first, last = (int(n) for n in part.split(" to "))
            parts += [str(n) for n in range(first, last + 1)]
        elif " x " in part:
            value, many = part.split(" x ")
            parts += [value] * int(many)
        else:
            parts.append(part)
    return ", ".join(parts)


def _arguments(text: str) -> str:
    """Names that nothing defines, with their types, in the order of their first use."""
    defined = {line.split(" = ")[0].strip() for line in text.splitlines()}
    kinds: dict[str, str] = {}
    for line in text.splitlines():
        right = line.split(" = ", 1)[1]
        if " : (" not in right:
            continue
        names = _NAME.findall(re.split(r"[{<]", right)[0])
        signature = right[right.rindex(" : (") + 4 : right.rindex(") ->")]
        for name, kind in zip(names, _split(signature), strict=True):
            if name not in defined:
                kinds.setdefault(name, kind)
    return ", ".join(f"{name}: {kind}" for name, kind in kinds.items())


def _split(text: str) -> list[str]:
    """Types between commas that are not inside angle brackets."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", text)]


def steps(text: str) -> list[str]:
    """The operations of a module's text, values named in the order in which they appear."""
    names: dict[str, str] = {}
    lines = [line.strip() for line in text.splitlines() if " = " in line and "@main" not in line]
    return [_NAME.sub(lambda m: names.setdefault(m[0], f"%v{len(names)}"), line) for line in lines]


def are_in_order(lines: str, text: str) -> bool:
    """Whether lines stand in a text in this order, others between them, remarks left out."""
    left = iter(line.split("  //")[0].strip() for line in text.splitlines())
    return all(line.strip() in left for line in lines.splitlines())
