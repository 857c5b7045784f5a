"""What the numbers of accesses in generated code stand for, also as the cache on disk has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...site import Site
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import Block, Constant, Instruction, Root, ThreadgroupRoot
from ..ir.operations.marks import LANE_OF
from ..ir.operations.operation import Inactive
from ..watch.sites import beginning_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSite:
    """What a fault's site number stands for."""

    site: Site
    memory: str  # name of the root in the kernel's own words
    size: int  # bytes of the access, 0 for a loop
    space: int = 0  # LLVM's address space of a pointer from memory, 0 if it may be any
    reads_inactive: bool = False  # whether it may read what lanes hold that take no part
    lanes: int = 0  # of the group whose lane it names, 0 if it names none
    start: int = 0  # byte offset in the arena or constant data that `memory` starts at
    length: int = -1  # bytes that `memory` has, -1 if that depends on the dispatch
    in_arena: bool = False  # whether `memory` is an array of the threadgroup's
    parameter: int = -1  # the argument that `memory` is, -1 if it is none
    begins: int = -1  # byte offset in its variable of what began without a value
    declared: Site | None = None  # of a thread's own array, whose start lies at `begins`


def access_site(fields: dict[str, Any]) -> AccessSite:
    """The place of an access that JSON has."""
    declared = fields["declared"]
    return AccessSite(
        **{
            **fields,
            "site": site_of(fields["site"]),
            "declared": site_of(declared) if declared else None,
        }
    )


def site_of(fields: dict[str, Any]) -> Site:
    """The place in the source that JSON has."""
    inlined = tuple(site_of(outer) for outer in fields["inlined"])
    return Site(fields["file"], fields["line"], fields["column"], fields["function"], inlined)


def described(what: Instruction | Block) -> AccessSite:
    """What a fault says of an access, or of a loop by its header."""
    if isinstance(what, Block):
        return AccessSite(site=loop_site(what), memory="", size=0)
    root = what.root
    if root is None:
        return AccessSite(site=what.site, memory="", size=0)
    size = size_of(Scalar(what.element)) * what.components
    return AccessSite(
        site=what.site,
        memory=root.name,
        size=size,
        start=getattr(root, "start", 0),
        length=getattr(root, "size", -1),
        in_arena=isinstance(root, ThreadgroupRoot),
        parameter=getattr(root, "parameter", -1),
        space=getattr(root, "space", 0),
    )


def described_watched(
    what: Instruction | Block, declared: dict[Root, tuple[Site, int]]
) -> AccessSite:
    """What checks say of an access or a branch; `declared` are a thread's own arrays."""
    if isinstance(what, Block):
        return AccessSite(site=what.site, memory="", size=0)
    if what.root in declared:
        site, begins = declared[what.root]
        return replace(described(what), memory="", declared=site, begins=begins)
    if beginning_of(what) >= 0:
        return AccessSite(site=what.site, memory="", size=0, begins=beginning_of(what))
    reads_inactive = what.operation.inactive is Inactive.READ
    lanes = 0
    if what.operation is LANE_OF and isinstance(what.operands[1], Constant):
        lanes = what.operands[1].number or 0
    return replace(described(what), reads_inactive=reads_inactive, lanes=lanes)


def loop_site(header: Block) -> Site:
    """A loop's place in the source: the line that its header begins or, if earlier, ends at."""
    known = (i.site for i in header.instructions() if i.site.line)
    first, last = next(known, header.site), header.site
    return last if last.scope == first.scope and 0 < last.line < first.line else first
