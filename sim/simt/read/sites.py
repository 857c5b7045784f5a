"""Debug locations of a module, resolved to places in the source, and names that the source gave."""

from __future__ import annotations

import re
from dataclasses import replace

from ...site import Site
from ..ir.nodes import Block, Function
from ..ir.passes import rewrites
from .llvm_tokens import unescaped

_MANGLED = re.compile(r"_Z(NK?)?")
_PART = re.compile(r"(\d+)")

GENERATED = "__assay"
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|(![0-9]+)|([-\w]+))')


# Types in names of instantiated templates, as clang spells them and as sources do.
_WORDS = (
    (re.compile(r"(?:\bconst )?\b__global_host\b"), "constant"),
    (re.compile(r"\b__global(?:_device)?\b"), "device"),
    (re.compile(r"\b__local\b"), "threadgroup"),
    (re.compile(r"\b_Float16\b"), "half"),
    (re.compile(r"\b__bf16\b"), "bfloat"),
)


class SiteTable:
    """Resolves `!dbg` references by a module's metadata."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self._metadata = metadata
        self._sites: dict[str, Site] = {"": Site()}
        self._scopes: dict[str, tuple[str, str]] = {}

    def site(self, reference: str) -> Site:
        """The place that a `!N` reference names; an empty site if it names none."""
        known = self._sites.get(reference)
        if known is None:
            known = self._sites[reference] = self._resolve(reference)
        return known

    def _fields(self, reference: str) -> dict[str, str]:
        text = self._metadata.get(reference, "")
        return {
            m[1]: unescaped(m[2]).decode("utf-8", "replace") if m[2] else m[3] or m[4] or ""
            for m in _FIELD.finditer(text)
        }

    def _resolve(self, reference: str) -> Site:
        fields = self._fields(reference)
        if "scope" not in fields:
            return Site()
        inlined: tuple[Site, ...] = ()
        if "inlinedAt" in fields:
            outer = self.site(fields["inlinedAt"])
            # The entry wrapper that the compiler adds is not in the user's source.
            own = () if outer.function.startswith(GENERATED) else (replace(outer, inlined=()),)
            inlined = (*own, *outer.inlined)
        scope = fields["scope"]
        known = self._scopes.get(scope)
        file, function = self._scopes[scope] = known or self._scope(scope)
        if inlined and function.startswith(GENERATED):  # a definition that the compiler adds
            return replace(inlined[0], inlined=inlined[1:])
        return Site(
            file, int(fields.get("line", 0)), int(fields.get("column", 0)), function, inlined
        )

    def _scope(self, reference: str) -> tuple[str, str]:
        file, function = "", ""
        while reference:
            fields = self._fields(reference)
            if not file and "file" in fields:
                file = self._fields(fields["file"]).get("filename", "")
            if self._metadata.get(reference, "").startswith("!DISubprogram"):
                function = _in_words_of_source(fields.get("name", ""))
                break
            reference = fields.get("scope", "")
        return file, function


def _in_words_of_source(name: str) -> str:
    if "<" in name:
        for pattern, word in _WORDS:
            name = pattern.sub(word, name)
    return name


@rewrites
def complete_sites(function: Function) -> None:
    """Give an instruction without a line that of its first user, or else of a neighbour.

    LLVM drops the place of what it merges from two places; where the result goes is still near.
    """
    _forget_wrapper(function)
    users: dict[object, Site] = {}
    for instruction in function.instructions():
        for operand in instruction.operands:
            if instruction.site.line:
                users.setdefault(operand, instruction.site)
    for block in function.blocks:
        for instruction in block.instructions():
            if not instruction.site.line and instruction in users:
                instruction.site = users[instruction]
        _from_neighbours(block)
    _from_before(function)


def _from_before(function: Function) -> None:
    """Code that was merged from the ends of several blocks is where one of those ends."""
    before: dict[Block, Site] = {}
    for block in function.blocks:
        lined = [each.site for each in block.body if each.site.line]
        if block.body and not lined and not block.site.line and block in before:
            lined = [before[block]]
            block.site = before[block]
            for instruction in block.instructions():
                instruction.site = before[block]
        last = lined[-1] if lined else block.site
        for target in block.targets if last.line else ():
            before.setdefault(target, last)


def _forget_wrapper(function: Function) -> None:
    """What the optimiser merged may lie in the entry function, which is not the user's."""
    for block in function.blocks:
        for instruction in block.instructions():
            if _is_generated(instruction.site):
                instruction.site = Site()
        if _is_generated(block.site) and block.targets:
            block.site = Site()


def _is_generated(site: Site) -> bool:
    return site.function.startswith(GENERATED)


def _from_neighbours(block: Block) -> None:
    for ordered in (reversed(block.body), iter(block.body)):
        known = Site() if _is_generated(block.site) else block.site
        for instruction in ordered:
            if instruction.site.line:
                known = instruction.site
            elif known.line:
                instruction.site = known
    if not block.site.line and block.body:
        block.site = block.body[-1].site


def plain_name(symbol: str) -> str:
    """The source name in a mangled symbol, as far as it is plain, without its namespaces."""
    nested = _MANGLED.match(symbol)
    if nested is None:
        return symbol
    name, place = symbol, nested.end()
    while part := _PART.match(symbol, place):
        place = part.end() + int(part[1])
        name = symbol[part.end() : place]
        if nested[1] is None:
            break
    return name
