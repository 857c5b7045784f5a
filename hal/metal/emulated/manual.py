"""Writes docs/reference/metal-api.md from the classes themselves.

python -m assay.hal.metal.emulated.manual > docs/reference/metal-api.md
"""

import inspect
import re

from .. import emulated

_HEAD = """# The emulated Metal API

This page is generated from the docstrings of `assay.hal.metal.emulated`; a test keeps it current.

The spelling is PyObjC's: colons of selectors are underscores, `NSError**` arguments come back in a
`(result, error)` tuple, blocks are callables. `assay.hal.metal.api.load("emulated")` returns the
module; `load("native")` returns PyObjC's `Metal` on a Mac. What Metal's validation layer would stop
raises `MetalValidationError`.

The default device is an Apple M1 with unified memory. `configure(DeviceOptions(...))`, before
`MTLCreateSystemDefaultDevice()`, makes it another: `chip` ("m1" to "m4-max"), `unified_memory`
(False keeps separate host and device copies of managed buffers), `memory` in bytes, `workers`
(threads that run kernels) and `fuel` (bound on the work of a kernel).

Not there: compressed textures, render and ray tracing pipelines, counters, capture, dynamic
libraries, commands that kernels encode; of Metal 4 render and machine learning encoders, compilers,
counters, samplers in argument tables, and tensors with elements of less than a byte.
"""

# Metal's names are in camelCase, with an underscore at each colon; others are the emulator's own.
_OWN = re.compile(r"[a-z]+(_[a-z]+)+")
_DEVIATION = re.compile(r"Deviation: (.*?)(?=\n\n|\Z)", re.DOTALL)


def page() -> str:
    """The whole page as Markdown."""
    kinds = [
        (name, value)
        for name, value in sorted(vars(emulated).items())
        if inspect.isclass(value)
        and name.startswith(("MTL", "NS"))
        and not issubclass(value, tuple)
    ]
    parts = [_HEAD, _deviations(kinds)]
    parts += [_section(name, kind) for name, kind in kinds]
    parts.append(_functions())
    return "\n".join(parts)


def methods(kind: type) -> list[tuple[str, str]]:
    """Methods of Metal, also inherited ones, with their docstrings."""
    return [
        (name, inspect.getdoc(value) or "")
        for name, value in inspect.getmembers(kind, callable)
        if not name.startswith("_") and not _OWN.fullmatch(name)
    ]


def _deviations(kinds: list[tuple[str, type]]) -> str:
    """What docstrings call a deviation.

    Methods that several classes inherit are listed once, at their base class.
    """
    found: dict[str, str] = {}
    inheriting: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name, kind in kinds:
        found[name] = inspect.getdoc(kind) or ""
        for method, text in methods(kind):
            defined = getattr(kind, method).__qualname__
            inheriting.setdefault(defined, []).append(f"{name}.{method}")
            texts[defined] = text
    for defined, names in inheriting.items():
        found[names[0] if len(names) == 1 else defined] = texts[defined]
    rows = ["## Where it differs from Metal", "", "| where | how |", "|---|---|"]
    for where, text in sorted(found.items()):
        rows += [f"| `{where}` | {_one_line(how)} |" for how in _DEVIATION.findall(text)]
    return "\n".join(rows) + "\n"


def _section(name: str, kind: type) -> str:
    meaning = _one_line(_without_deviation(inspect.getdoc(kind) or ""))
    rows = [f"## {name}", "", meaning, "", "| method | meaning |", "|---|---|"]
    rows += [
        f"| `{method}` | {_one_line(_without_deviation(text))} |" for method, text in methods(kind)
    ]
    return "\n".join(rows) + "\n"


def _functions() -> str:
    rows = ["## Functions and structs", "", "| name | meaning |", "|---|---|"]
    for name, value in sorted(vars(emulated).items()):
        is_struct = inspect.isclass(value) and issubclass(value, tuple)
        if name.startswith(("MTL", "NS")) and (is_struct or inspect.isfunction(value)):
            rows.append(f"| `{name}` | {_one_line(inspect.getdoc(value) or '')} |")
    return "\n".join(rows) + "\n"


def _without_deviation(text: str) -> str:
    return _DEVIATION.sub("", text)


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
