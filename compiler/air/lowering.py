"""Lowers one kernel of a library to bitcode that the engine imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import llvmlite.binding as llvm

from assay.sim.native.llvm_host import LLVM_LOCK, start_llvm
from assay.sim.native.llvm_modules import linked, module_of, run_on

from . import entry
from .bodies import body_of
from .body import ATTRIBUTES
from .clean import cleaned, has_places
from .constants import Value, is_kept, with_values
from .container import AirFormatError
from .listing import Listing, listed, with_own_places
from .metadata import AirArgument, EntryPoint, Metadata
from .names import AirFunction, declared_functions, without_declarations
from .shims import compiled_shims, shim_of
from .tensors import eights
from .tensors import shims as of_tensors
from .tensors.places import counts_on_eights
from .textures.samplers import with_sampler_words
from .variable_sizes import with_fixed_sizes
from .visible import with_functions


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A kernel for the engine.

    Attributes:
        bitcode: with the function `entry.SYMBOL`, whose parameters are the memory of `arguments`.
        arguments: those that the host gives something for, in order.
        positions: the others.
        max_threads: of a threadgroup, if the kernel says so.
        listing: the code that places are in; empty if the library says where its source is.
    """

    bitcode: bytes
    arguments: tuple[AirArgument, ...]
    positions: tuple[AirArgument, ...]
    max_threads: int | None
    listing: str


def lower_kernel(
    text: str,
    name: str,
    values: Mapping[int | str, Value],
    listing_name: str,
    *,
    tables: Sequence[str] = (),
    visible: Callable[[str], str | None] = lambda _: None,
) -> Lowered:
    """Lower a module of AIR with one kernel, or that of a name.

    `listing_name` is what places call the listing of a kernel without places of its own; `tables`
    names the visible functions that tables may hold, whose modules `visible` gives.

    Raises:
        AirFormatError: for what is not understood, or not known here, by its name.
    """
    metadata = Metadata(text)
    kernels = metadata.kernels()
    kernel = _chosen(kernels, name)
    others = [each.symbol for each in kernels if each.symbol != kernel.symbol]
    start_llvm()
    with LLVM_LOCK:
        conditions = [each.condition for each in kernel.arguments if each.condition]
        changed = _set(text, metadata, values, conditions)

        def visible_module(function: str) -> tuple[str, str] | None:
            found = visible(function)
            if found is None:
                return None
            told = Metadata(found)
            return told.visible(), _set(found, told, values, [])

        changed = with_functions(changed, tables, visible_module)
        changed = _without(changed, others) if others else changed
    kinds = entry.parameter_types(changed, kernel.symbol)
    if len(kinds) != len(kernel.arguments):
        raise AirFormatError(
            f"the function has {len(kinds)} parameters, its metadata {len(kernel.arguments)}"
        )
    if [each.parameter for each in kernel.arguments] != list(range(len(kinds))):
        raise AirFormatError("its metadata does not tell of each parameter in order")
    given = [each for each in kernel.arguments if each.kind not in entry.POSITIONS]
    kept = [each for each in given if not each.condition or is_kept(changed, each.condition)]
    numbers = {each.parameter for each in kept}
    names = {each.parameter: each.name for each in kernel.arguments}
    listing = Listing(changed, "") if has_places(text) else listed(changed, listing_name, names)
    whole, texts = _defined(
        listing.module + entry.wrapper(kernel.symbol, kernel.arguments, kinds, numbers),
        of_eights=counts_on_eights(changed, _lanes_of(changed, kernel)),
    )
    return Lowered(
        bitcode=_linked(whole, texts),
        arguments=tuple(kept),
        positions=tuple(each for each in kernel.arguments if each.kind in entry.POSITIONS),
        max_threads=kernel.max_threads,
        listing=listing.text,
    )


def _lanes_of(text: str, kernel: EntryPoint) -> list[str]:
    """The kernel's parameters with a thread's number in its simdgroup, as its text calls them."""
    return [
        entry.parameter_name(text, kernel.symbol, each.parameter)
        for each in kernel.arguments
        if each.kind == "thread_index_in_simdgroup"
    ]


def _without(text: str, kernels: Sequence[str]) -> str:
    """The module without kernels and what they alone use; files of bitcode have several."""
    names = {symbol.strip('@"') for symbol in kernels}
    try:
        with module_of(text) as module:
            for function in module.functions:
                if function.name in names:
                    function.linkage = "internal"
            passes = llvm.create_new_module_pass_manager()
            passes.add_global_dead_code_eliminate_pass()
            passes.add_strip_dead_prototype_pass()
            run_on(module, passes)
            return str(module)
    except RuntimeError as error:
        raise AirFormatError(f"its code is not understood: {error}") from None


def _set(
    text: str,
    metadata: Metadata,
    values: Mapping[int | str, Value],
    conditions: Sequence[str],
) -> str:
    """The cleaned module with its samplers and constants."""
    changed = with_sampler_words(cleaned(text), metadata.samplers())
    changed = with_values(changed, metadata.constants(), values, conditions)
    return with_own_places(changed) if has_places(text) else changed


def _chosen(kernels: list[EntryPoint], name: str) -> EntryPoint:
    for kernel in kernels:
        if kernel.symbol.strip('@"') == name or len(kernels) == 1:
            return kernel
    raise AirFormatError(f"its module has no kernel '{name}'")


def _defined(text: str, *, of_eights: bool) -> tuple[str, list[str]]:
    """The module with all of AIR's functions defined, or left to shims, whose C++ is given too.

    `of_eights` says that it counts on where GPUs before M5 keep elements of tensors.
    """
    waiting = declared_functions(text)
    parts = [without_declarations(text), ATTRIBUTES]
    declared = dict.fromkeys(entry.declarations())
    known: set[str] = set()
    texts: list[str] = []
    while waiting:
        function = waiting.pop()
        if function.name in known:
            continue
        known.add(function.name)
        body = None if of_tensors.is_of_tensors(function) else body_of(function)
        if body is not None:
            parts.append(body.text)
            waiting += body.calls
            texts += body.shims
            declared |= dict.fromkeys(body.declares)
            continue
        texts.append(_shim(function, of_eights=of_eights))
        declared[
            f"declare {function.result} @{function.name}({', '.join(function.parameters)})"
        ] = None
    whole = "\n".join(parts)
    there = _declared_names(whole)
    new = [line for line in declared if _name_of(line) not in there]
    return "\n".join([whole, *new]), texts


def _shim(function: AirFunction, *, of_eights: bool) -> str:
    is_of_tensors = of_tensors.is_of_tensors(function)
    is_early = of_eights and is_of_tensors
    if is_early:
        shim = eights.shim_of(function)
    elif is_of_tensors:
        shim = of_tensors.shim_of(function)
    else:
        shim = shim_of(function)
    if shim is None:
        why = " for tensors in registers of GPUs before M5, which it is for" if is_early else ""
        raise AirFormatError(f"it calls '{function.name}', which is not known here{why}")
    return shim


_DECLARED = re.compile(r"^(?:declare|define) [^@\n]*(@[\w.]+)\(", re.MULTILINE)


def _declared_names(text: str) -> set[str]:
    return {found[1] for found in _DECLARED.finditer(text)}


def _name_of(line: str) -> str:
    found = _DECLARED.match(line)
    assert found is not None
    return found[1]


def _linked(text: str, texts: list[str]) -> bytes:
    """Bitcode of the module with its shims inside."""
    parts = compiled_shims(sorted(set(texts)))
    with LLVM_LOCK:
        try:
            return with_fixed_sizes(linked(text, parts))
        except RuntimeError as error:
            raise AirFormatError(f"its code is not understood: {error}") from None
