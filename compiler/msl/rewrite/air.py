"""Functions of Apple's intermediate language that programs declare by their assembly labels.

`T f(...) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");` is how programs reach a simdgroup's
asynchronous copies, for which MSL has no name. The label stays; its definition is added.
"""

from __future__ import annotations

from ..source.lexer import Token, TokenStream

LABELS = ("asm", "__asm", "__asm__")
_SHARED, _DEVICE = "__ASSAY_THREADGROUP void*", "__ASSAY_DEVICE void*"
_SPANS = {"p3i8.p1i8": (_SHARED, f"const {_DEVICE}"), "p1i8.p3i8": (_DEVICE, f"const {_SHARED}")}


def _definitions() -> dict[str, str]:
    """C++ text by label."""
    found = {
        "air.wait_simdgroup_events": _define(
            "air.wait_simdgroup_events",
            "void",
            "int count, void** events",
            "metal::__wait_for_copies(count, events)",
        )
    }
    for suffix, (target, source) in _SPANS.items():
        line = f"air.simdgroup_async_copy_1d.{suffix}"
        found[line] = _define(
            line,
            "void*",
            f"ulong size, ulong align, {target} to, {source} from, ulong count",
            "return metal::__copy_line(size, align, to, from, count)",
        )
        tile = f"air.simdgroup_async_copy_2d.{suffix}"
        found[tile] = _define(
            tile,
            "void*",
            f"ulong size, ulong align, {target} to, ulong to_row, ulong, ulong2 to_tile, "
            f"{source} from, ulong from_row, ulong, ulong2 from_tile, long2 at, int clamp",
            "return metal::__copy_tile(size, align, to, to_row, to_tile, from, from_row, from_tile,"
            " at, clamp)",
        )
    return found


def _define(label: str, result: str, parameters: str, body: str) -> str:
    name = "__assay_" + label.replace(".", "_")
    head = f"{result} {name}({parameters})"
    return (
        f'{head} __asm__("{label}"); '
        f"[[clang::sycl_external]] __attribute__((convergent)) {head} {{ {body}; }}"
    )


_DEFINITIONS = _definitions()


def define_labels(stream: TokenStream) -> None:
    """Define the labelled functions that the text declares; other assembly is reported."""
    used: dict[str, None] = {}
    for index, text in enumerate(stream.texts):
        if text not in LABELS:
            continue
        if stream.texts[index + 1] != "(" or stream.texts[index - 1] != ")":
            stream.report(index, f"'{text}': assembly is not part of MSL")
            continue
        label = "".join(t.strip('"') for t in stream.texts[index + 2 : stream.match[index + 1]])
        if label not in _DEFINITIONS:
            known = ", ".join(_DEFINITIONS)
            stream.report(index, f"'{label}' is not supported; known labels are {known}")
            continue
        used[label] = None
    if used:
        text = "\n" + "\n".join(_DEFINITIONS[label] for label in used) + "\n"
        stream.all.append(Token("space", text, "", "", 1, 1))
