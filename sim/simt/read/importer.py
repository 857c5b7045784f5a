"""Imports a kernel's bitcode: everything inlined, optimised as scalar code, lowered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import llvmlite.binding as llvm

from assay.traces.garbage import no_collection

from ...native.llvm_host import LLVM_LOCK, start_llvm
from ...native.llvm_modules import module_of, run_on, run_once
from ...native.recursion import DEPTHS, levelled
from ..analysis.contract import contract
from ..analysis.shift_counts import drop_masks
from ..analysis.unpack import unpack
from ..ir.faults import UnsupportedKernel
from ..ir.nodes import Function
from .apart import PREFIX as APART
from .apart import keep_apart, often_called
from .beyond.annotations import are_inside, compared, without_open
from .beyond.entry import Entry
from .beyond.leaving import may_be_larger, may_leave
from .beyond.variables import hide_variables, released, shown
from .call_graph import Calls, check_calls, check_switches
from .defined import acts, defined, kept_stores, stores
from .divisions import known_divisors
from .kept import keep_loads, keep_own_loads, keep_stores, mark_copies, release_own_loads, settled
from .llvm_records import IRSyntaxError
from .llvm_text import read_module
from .loops import has_arrays_of_matrices, unroll_all, unroll_no_more, unroll_over_matrices
from .lower import lower
from .marks import mark_events, mark_math, mark_rows
from .roots import Parameter
from .sites import complete_sites
from .uninitialised import (
    forget_kinds,
    forget_uniform,
    mark_narrowed,
    mark_signed,
    mark_uninitialised,
    without_unset,
)

_INLINE_EVERYTHING = 1_000_000
# Kernels of more lines, such as elliptic curves, take minutes when their loops are unrolled too.
_UNROLLED_LINES = 20_000
# How often pointers in variables are looked for: each round may find some in what others point to.
_ROUNDS = 4
_THREAD_LOCAL = re.compile(r"^@[^\n]*\bthread_local\b", re.MULTILINE)
_ARRAY = re.compile(r"= alloca ")
# A matrix that lies in memory; the engine has them in registers alone.
_MATRIX_IN_MEMORY = re.compile(r"\b(?:load|store) <64 x ")
# What a data layout says of the widths that a machine computes in: a GPU has none of 64 bits, and
# the optimiser must not widen indices to them.
_NATIVE_INTEGERS = re.compile(r"-n[0-9]+(?::[0-9]+)*")
# What a program promises, such as `__builtin_assume`.
_PROMISE = re.compile(r"^  (?:tail )?call void @llvm\.assume\([^\n]*\n", re.MULTILINE)
# A call of a function of the user's, which was not put in its place.
_CALL_OF_SOURCE = re.compile(r"\bcall [^\n@]*@(?!llvm\.|__assay_)")


def import_kernel(
    bitcode: bytes,
    entry: str,
    parameters: Sequence[Parameter],
    name: str,
    *,
    marks: frozenset[str] = frozenset(),
) -> Function:
    """Read a kernel's unoptimised bitcode into the engines' IR.

    Args:
        bitcode: an LLVM module as clang emits it before optimisation.
        entry: symbol of the entry function.
        parameters: description of the entry's parameters, in order.
        name: the kernel's name for messages.
        marks: what the optimiser must not forget, for checks: `init` where variables have no
            value, `uniform` what must be the same in all lanes, `shuffle` what all lanes must
            call, `race` which accesses are of copies and textures, `overflow` what is signed,
            `rows` indices in arrays of arrays, `lanes` stores that the same thread follows up by
            others, `reads` loads that nobody needs; and, for models of machines, `math` where it
            calls functions of mathematics. Then integers are also kept as narrow as the machine's
            own. For proofs, `loops`: these stay as the source has them, with such narrow integers;
            and `gaps`: bytes and lanes that are not part of a variable have no value either.

    Raises:
        UnsupportedKernel: for what cannot be executed, or for bitcode that does not load.
    """
    with no_collection():
        text = optimised_text(bitcode, entry, name, marks=marks)
        try:
            module = read_module(text)
        except IRSyntaxError as error:
            raise UnsupportedKernel(f"its IR is not understood: {error}", kernel=name) from error
        function = lower(module, entry, parameters, name)
        complete_sites(function)
        for each in (function, *function.apart.values()):
            drop_masks(each)
            unpack(each)
            contract(each)
        return function


def optimised_text(
    bitcode: bytes, entry: str, name: str, *, marks: frozenset[str] = frozenset()
) -> str:
    """The module's text after inlining and scalar optimisation."""
    start_llvm()
    with LLVM_LOCK:
        try:
            with module_of(bitcode) as module:
                text = str(module)
            calls = _check(text, entry, name)
            optimised = _inlined(text, entry, calls, marks)
            if calls.recursion is not None and _CALL_OF_SOURCE.search(optimised):
                optimised = _inlined(*_with_levels(text, entry, name, calls), marks)
            return without_unset(optimised)
        except RuntimeError as error:
            raise UnsupportedKernel(f"its bitcode does not load: {error}", kernel=name) from error


def _inlined(text: str, entry: str, calls: Calls, marks: frozenset[str]) -> str:
    """The module after inlining, but of what is called often and large."""
    changed = defined(_marked(text, marks), has_types="math" in marks)
    apart = often_called(calls)
    optimised = _optimised_somehow(keep_apart(changed, apart), entry, calls, marks)
    more = often_called(calls, optimised.count("\n"))
    if more > apart:
        optimised = _optimised_somehow(keep_apart(changed, more), entry, calls, marks)
    return optimised


def _with_levels(text: str, entry: str, name: str, calls: Calls) -> tuple[str, str, Calls]:
    """The module whose recursion ends, with its calls. Raises UnsupportedKernel if it grows."""
    assert calls.recursion is not None
    for depth in DEPTHS:
        changed = levelled(text, calls.called, depth)
        try:
            return changed, entry, _check(changed, entry, name)
        except UnsupportedKernel:
            continue
    raise calls.recursion


def _optimised_somehow(text: str, entry: str, calls: Calls, marks: frozenset[str]) -> str:
    """The optimised module, in the way that it and the marks ask for."""
    if "loops" in marks:
        return _simplified(text, entry, marks)
    optimised = _optimised_beyond(text, entry, calls, marks)
    if not optimised and "reads" in marks:
        text = _in_registers(text, entry, marks)
    if not optimised and "math" in marks:
        return _optimised_for_models(text, entry, calls)
    optimised = optimised or _optimised(text, entry, calls)
    if _MATRIX_IN_MEMORY.search(optimised):
        return _with_fewer_arrays(optimised, entry, calls, unroll_all)
    # Checks of accesses look at a loop's turns together, which takes them less time.
    if has_arrays_of_matrices(optimised) and "reads" not in marks:
        return _with_fewer_arrays(optimised, entry, calls, unroll_over_matrices)
    return optimised


def _simplified(text: str, entry: str, marks: frozenset[str]) -> str:
    """The module in registers, with all loops, tests and indices as the source has them."""
    for _ in range(2):  # the second round sees pointers that the first put into registers
        text = release_own_loads(released(text))
        text = _held(text, entry, marks) if "reads" in marks else _in_registers(text, entry, marks)
        with module_of(keep_own_loads(text) if "reads" in marks else text) as module:
            module.data_layout = _NATIVE_INTEGERS.sub("-n8:16:32", module.data_layout)
            passes = llvm.create_new_module_pass_manager()
            passes.add_instruction_combine_pass()
            passes.add_sccp_pass()
            passes.add_simplify_cfg_pass()
            passes.add_aggressive_dce_pass()
            passes.add_global_dead_code_eliminate_pass()
            run_on(module, passes)
            text = str(module)
    return shown(text)


def _held(text: str, entry: str, marks: frozenset[str]) -> str:
    """The same as `_in_registers`, but for variables that an access may leave.

    The optimiser would drop such accesses, and what is only done for them.
    """
    text = _hidden(text, entry, marks)
    for _ in range(_ROUNDS):
        if not _ARRAY.search(text):
            break
        held = Entry(text, entry).held()
        with module_of(held) as module:
            _promote(module, inline=False)
            promoted = str(module)
        if promoted == text:
            break
        text = promoted
    return _kept(text, marks)


def _hidden(text: str, entry: str, marks: frozenset[str]) -> str:
    """The module inlined, with variables in registers that no pointer reaches."""
    with module_of(hide_variables(text)) as module:
        _prepare(module, entry)
        _promote(module, inline=True)
        text = str(module)
    return settled(text) if "reads" in marks else text


def _in_registers(text: str, entry: str, marks: frozenset[str]) -> str:
    """The module inlined, with variables in registers, and with accesses that are to stay.

    What is copied as a whole is loaded and stored by elements then.
    """
    with module_of(text) as module:
        _prepare(module, entry)
        _promote(module, inline=True)
        if "reads" not in marks:
            return _kept(str(module), marks)
        text = settled(str(module))
    with module_of(text) as module:
        _promote(module, inline=False)
        return _kept(str(module), marks)


def _kept(text: str, marks: frozenset[str]) -> str:
    """The module with accesses that the optimiser leaves where they are, as far as is marked."""
    if "reads" in marks:
        text = keep_loads(text)
    return keep_stores(text) if "lanes" in marks else text


def _optimised(text: str, entry: str, calls: Calls) -> str:
    """The optimised module; one that stores nothing but what was never set still stores that."""
    with module_of(text) as module:
        optimised = _optimise(module, entry, calls)
    if stores(text) and not acts(optimised):
        with module_of(kept_stores(text)) as module:
            return _optimise(module, entry, calls)
    return optimised


def _optimised_beyond(text: str, entry: str, calls: Calls, marks: frozenset[str]) -> str:
    """The optimised module, if it may leave its variables or tables; "" if it surely does not."""
    optimised = _annotated(text, entry, calls, marks)
    if not optimised:
        return ""
    with module_of(without_open(shown(optimised))) as module:
        # What the annotations stood in the way of: branches that become selections.
        passes = llvm.create_new_module_pass_manager()
        passes.add_dead_code_elimination_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        run_on(module, passes)
        return str(module)


def _annotated(text: str, entry: str, calls: Calls, marks: frozenset[str]) -> str:
    """The optimised module with annotations, if it may leave its variables or tables; else ""."""
    if calls.recursion is not None:
        return ""
    if not may_leave(text) and not ("reads" in marks and may_be_larger(text)):
        return ""
    text = shown(_hidden(text, entry, marks))
    function = Entry(text, entry)
    for _ in range(_ROUNDS):
        hidden = function.hidden_again()
        if hidden is None:
            break
        with module_of(hidden) as module:
            _promote(module, inline=False)
            promoted = shown(str(module))
        if promoted == text:
            break
        text = promoted
        function = Entry(text, entry)
    marked = None if function.is_inside() else function.marked()
    if marked is None:
        return ""
    with module_of(_kept(marked, marks)) as module:
        optimised = _optimise(module, entry, calls)
    if are_inside(optimised):
        return ""
    with module_of(compared(optimised)) as module:
        if are_inside(run_passes(module, calls)):
            return ""
    return optimised


def _promote(module: llvm.ModuleRef, *, inline: bool) -> None:
    """Put variables into registers; `inline` functions into the places of their calls before."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    if inline:  # of what is small already
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
    run_on(module, passes)


def _optimised_for_models(text: str, entry: str, calls: Calls) -> str:
    """As a compiler for a GPU would: with narrow integers, and arrays of threads in registers.

    Where an array is left in memory because a loop runs over it, loops of known length are
    unrolled however long they get.
    """
    with module_of(text) as module:
        module.data_layout = _NATIVE_INTEGERS.sub("-n8:16:32", module.data_layout)
        optimised = _optimise(module, entry, calls)
    return _with_fewer_arrays(optimised, entry, calls, unroll_all)


def _with_fewer_arrays(
    optimised: str, entry: str, calls: Calls, unroll: Callable[[str], str]
) -> str:
    """The optimised module with loops over arrays unrolled, if that puts one into registers."""
    if not _ARRAY.search(optimised):
        return optimised
    with module_of(unroll(optimised)) as module:
        _unroll(module)
        unrolled = unroll_no_more(str(module))
    if unrolled.count("\n") > _UNROLLED_LINES:
        return optimised
    with module_of(unrolled) as module:
        unrolled = _optimise(module, entry, calls)
    fewer = len(_ARRAY.findall(unrolled)) < len(_ARRAY.findall(optimised))
    return unrolled if fewer else optimised


def _marked(text: str, marks: frozenset[str]) -> str:
    if "init" in marks:
        text = mark_uninitialised(text, padding="gaps" in marks)
    if "overflow" in marks:
        text = mark_signed(mark_narrowed(text))
    if "rows" in marks:
        text = mark_rows(text)
    if "math" in marks:
        text = mark_math(text)
    if "lanes" in marks:
        text = mark_events(keep_stores(text))
    if "reads" in marks:
        text = mark_copies(_PROMISE.sub("", text))
    if "race" not in marks:
        text = forget_kinds(text)
    return text if marks & {"uniform", "shuffle", "bounds"} else forget_uniform(text)


def _check(text: str, entry: str, name: str) -> Calls:
    # LLVM ends the process in the middle of its work on these.
    if _THREAD_LOCAL.search(text):
        raise UnsupportedKernel("thread_local variables are not supported", kernel=name)
    check_switches(text, name)
    return check_calls(text, entry, name)


def _prepare(module: llvm.ModuleRef, entry: str) -> None:
    for variable in module.global_variables:
        # An external variable keeps its type and place: the optimiser would shrink an internal one.
        if str(variable.type).endswith("addrspace(3)"):
            variable.linkage = "external"
    for function in module.functions:
        if function.name.startswith(APART):
            continue
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")


def _optimise(module: llvm.ModuleRef, entry: str, calls: Calls) -> str:
    _prepare(module, entry)
    text = run_passes(module, calls)
    known = known_divisors(text)
    if known == text:
        return text
    with module_of(known) as again:
        return run_passes(again, calls)


def run_passes(module: llvm.ModuleRef, calls: Calls) -> str:
    """The module's text after LLVM's scalar optimiser: most of the time that reading takes."""
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(opt=2)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_interleaving = False
    options.loop_unrolling = calls.lines < _UNROLLED_LINES
    options.inlining_threshold = _INLINE_EVERYTHING
    builder = llvm.create_pass_builder(machine, options)
    run_once(module, builder.getModulePassManager(), builder)
    return str(module)


def _unroll(module: llvm.ModuleRef) -> None:
    """Unroll the loops that ask for it, and put arrays into registers as far as that allows."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_loop_simplify_pass()
    passes.add_loop_unroll_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    run_on(module, passes)
