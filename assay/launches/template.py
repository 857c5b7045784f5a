"""A complete block of TOML for a kernel, with assumed values that are to be changed by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .constants import compiled_kernel
from .grid import Grid
from .inputs import Setup
from .plan import Bound, make_plan
from .scalars import element_of
from .structs import members_of

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def args_template(library: KernelLibrary, name: str) -> str:
    """What `--args` takes for a kernel, every grid, argument and constant of it.

    Raises:
        CompileError: if the kernel does not compile.
        CannotPlan: if it needs what no file can give.
    """
    kernel, constants = compiled_kernel(library, name, {})
    plan = make_plan(kernel, Setup())
    lines = [f"[kernel.{_key(name)}]", *_grid(plan.grid)]
    for bound in plan.bound:
        value = _value(bound)
        said = bound.argument
        if value:
            lines.append(f"arguments.{_key(said.name)} = {value}")
        else:
            lines.append(f"# {said.name}: a {said.kind.replace('_', ' ')}, which is assumed")
    for text in constants:
        constant, _, value = text.partition(" = ")
        lines.append(f"constants.{constant} = {value.replace('(', '[').replace(')', ']')}")
    return "\n".join(lines)


def _grid(grid: Grid) -> Iterator[str]:
    if grid.threads is not None:
        yield f"threads = {list(grid.threads)}"
    else:
        yield f"threadgroups = {list(grid.threadgroups or (1, 1, 1))}"
    yield f"threadgroup = {list(grid.threadgroup)}"


def _value(bound: Bound) -> str:
    """What stands behind the argument's name; "" for textures and the like."""
    argument = bound.argument
    if argument.kind == "threadgroup":
        return f"{{ bytes = {bound.length} }}"
    if bound.data is None:
        return ""
    element = element_of(argument.type_name)
    is_value = argument.address_space == "constant" and argument.is_reference
    if is_value and element is None:
        members = members_of(argument)
        if members:
            given = (
                f"{member.name} = {_numbers(_elements(bound, member)[: member.length])}"
                for member in members
            )
            return f"{{ {', '.join(given)} }}"
    if is_value and element is not None:
        lanes = argument.size // element.itemsize
        return _numbers(bound.data.view(element)[:lanes])
    fill = '"zeros"' if not bound.data.any() else '"random"'
    if element is None or argument.size % element.itemsize:
        return f'{{ dtype = "uint8", shape = [{bound.length}], fill = {fill} }}'
    return f"{{ shape = [{bound.length // argument.size}], fill = {fill} }}"


def _elements(bound: Bound, member: Any) -> Any:
    assert bound.data is not None
    size = member.count * member.element.itemsize
    return bound.data[member.offset : member.offset + size].view(member.element)


def _numbers(values: Any) -> str:
    """A number, or a list of several; of equal ones in a row each is written."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    texts = [
        str(value).lower()
        if isinstance(value, bool)
        else repr(float(value))
        if _is_real(value)
        else str(value)
        for value in plain
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _is_real(value: Any) -> bool:
    return not isinstance(value, int)


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else json.dumps(text)
