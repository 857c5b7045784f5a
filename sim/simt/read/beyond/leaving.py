"""Whether a module may touch more than its variables and tables have."""

from __future__ import annotations

import re
import sys

from ...ir.llvm_types import size_of
from ..llvm_text import read_type_of_alloca, types_of
from ..uninitialised import UNSET
from .variables import ALLOCA, NAME

_CONSTANT = re.compile(r"^(?P<name>@\S+) = (?!external)[^\n]*? constant [^\n]*$", re.MULTILINE)
# Loads, stores, steps and copies through pointers that may be to variables.
_OWN_TOUCH = re.compile(
    r"^  (?:(?:%\S+ = load|store) (?:volatile |atomic )*|%\S+ = getelementptr (?:inbounds |nuw )*)"
    r"(?P<kind>[^\n]*?), ptr (?P<at>%[^,\s]+),|"
    r"^  (?:tail )?call void @llvm\.mem(?:cpy|move|set)\.(?P<operands>[^\n]*?), i64 (?P<size>\d+),",
    re.MULTILINE,
)
_HANDED = re.compile(
    r"^  (?:store ptr %[^,\s]+|(?:%\S+ = )?(?:tail )?call [^@\n]*@"
    rf"(?!llvm\.|{UNSET})[^\n]*)",
    re.MULTILINE,
)
_VARIABLE = re.compile(ALLOCA.pattern, re.MULTILINE)
_PLAIN_POINTER = re.compile(r"\bptr (?:align \d+ )?(%[^,\s]+)")
_CONSTANT_SPACE = 6


def may_leave(text: str) -> bool:
    """Whether a module's unoptimised `text` steps through variables or tables by what may be any
    number of bytes, or by a number too many."""
    constants = _has_tables(text)
    space = rf"ptr(?: addrspace\({_CONSTANT_SPACE}\))?" if constants else "ptr"
    field = r"%[^,]+, ptr[^,]*, i32 0,"
    step = (
        rf"^  (?!%assay\.)%\S+ = getelementptr (?!{field})[^\n]*?, {space} (?:[%@]|addrspacecast)"
    )
    if constants and "getelementptr (" in text:
        return True
    return re.search(step, text, re.MULTILINE) is not None


def _has_tables(text: str) -> bool:
    """Whether a module has tables, or numbers that something points to; these are tables of one."""
    for match in _CONSTANT.finditer(text):
        if " [" in match[0] or "%" in match[0]:
            return True
        uses = len(re.findall(rf"{re.escape(match['name'])}(?![-$.\w])", text))
        if uses > 1 + len(re.findall(rf" = load [^\n]*? {re.escape(match['name'])},", text)):
            return True
    return False


def may_be_larger(text: str) -> bool:
    """Whether a module's unoptimised `text` may touch a variable as something with more bytes:
    at once, or where a pointer to it was handed to.
    """
    types = types_of(text)
    sizes: dict[str, int] = {}

    def size(kind: str) -> int:
        if kind not in sizes:
            sizes[kind] = size_of(read_type_of_alloca(kind, types))
        return sizes[kind]

    least, most = sys.maxsize, 0
    for body in re.split(r"(?m)^(?=define )", text)[1:]:
        variables = {match[1]: size(match[2]) for match in _VARIABLE.finditer(body)}
        handed = {name for match in _HANDED.finditer(body) for name in NAME.findall(match[0])}
        least = min([least, *(variables[name] for name in handed & variables.keys())])
        for match in _OWN_TOUCH.finditer(body):
            if match["kind"]:
                touched, names = size(match["kind"]), [match["at"]]
            else:
                touched = int(match["size"])
                names = _PLAIN_POINTER.findall(match["operands"])
            known = [variables[name] for name in names if name in variables]
            if any(touched > each for each in known):
                return True
            if len(known) < len(names):
                most = max(most, touched)
    return most > least
