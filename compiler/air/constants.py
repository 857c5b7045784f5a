"""Function constants of a module: their values are put in, and its constructor is run."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence

import llvmlite.binding as llvm

from assay.sim.native.llvm_modules import module_of, run_on

from .container import AirFormatError
from .metadata import ConstantVariable

Value = bool | int | float | tuple[bool | int | float, ...]
_DEFINED = re.compile(
    r"(?:tail )?call (?:zeroext )?i1 @air\.is_function_constant_defined"
    r"\([^@\n]*(@[\w.$]+|@\"[^\"]*\")\)(?: #\d+)?"
)
_SECTION = re.compile(r',? section "air\.[\w.]+"')
_UNSET = re.compile(r"^(@\S+ = [^\n]*addrspace\(6\) global \S+) undef", re.MULTILINE)
_PREDICATE = re.compile(
    r"^  (%\S+) = (?:tail )?call i8 @air\.normalize_function_constant_predicate\.i8\(i8 (\S+)\).*$",
    re.MULTILINE,
)


def with_values(
    text: str,
    variables: Sequence[ConstantVariable],
    values: Mapping[int | str, Value],
    conditions: Iterable[str],
) -> str:
    """The cleaned module with its constants' values.

    `conditions` are the variables that tell whether arguments are there, for `is_kept`.

    A constant without a value is 0; whoever asks whether it is defined is told that it is not.
    """
    for variable in variables:
        value = values.get(variable.index, values.get(variable.name))
        text = _set(text, variable, value if value is not None else 0)
        text = _told(text, variable.symbol, is_defined=value is not None)
    for symbol in conditions:  # nothing reads them, so that the optimiser would leave them out
        text = re.sub(rf"^({re.escape(symbol)} = )internal ", r"\1", text, flags=re.MULTILINE)
    return _constructed(text)


def is_kept(text: str, symbol: str) -> bool:
    """Whether a variable, after the constructor has run, holds something else than 0."""
    found = re.search(rf"^{re.escape(symbol)} = [^\n]*?(?:global|constant) i8 (-?\d+)", text, re.M)
    if found is None:
        raise AirFormatError(f"the condition {symbol} of an argument is no number")
    return int(found[1]) != 0


def _told(text: str, symbol: str, *, is_defined: bool) -> str:
    """The module that is told whether a constant is defined."""
    answer = f"or i1 {str(is_defined).lower()}, false"
    return _DEFINED.sub(lambda found: answer if found[1] == symbol else found[0], text)


def _set(text: str, variable: ConstantVariable, value: Value) -> str:
    pattern = re.compile(
        rf"^({re.escape(variable.symbol)} = .*?)(?:externally_initialized )?constant (\S+|<[^>]*>) "
        r"(?:undef|zeroinitializer|poison)(?:, section \"[^\"]*\")?",
        re.MULTILINE,
    )
    if not pattern.search(text):
        raise AirFormatError(f"function constant '{variable.name}' has no variable in the module")
    return pattern.sub(
        lambda found: f"{found[1]}constant {found[2]} {_literal(found[2], value)}", text
    )


def _literal(kind: str, value: Value) -> str:
    if kind.startswith("<"):
        element = kind.strip("<>").rpartition(" x ")[2]
        parts = value if isinstance(value, tuple) else (value,) * int(kind[1:].split()[0])
        return "<" + ", ".join(f"{element} {_literal(element, part)}" for part in parts) + ">"
    number = value[0] if isinstance(value, tuple) else value
    if kind == "float":
        bits = struct.unpack(
            "<Q", struct.pack("<d", struct.unpack("<f", struct.pack("<f", number))[0])
        )
        return f"0x{bits[0]:016X}"
    if kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', number))[0]:04X}"
    return str(int(number))


def _constructed(text: str) -> str:
    """The module whose constructors have run, as far as they only compute constants."""
    if "@llvm.global_ctors" not in text:
        return text
    text = _SECTION.sub("", text)
    text = _PREDICATE.sub(_normalised, text)
    text = _UNSET.sub(r"\1 zeroinitializer", text)
    try:
        with module_of(text) as module:
            passes = llvm.create_new_module_pass_manager()
            passes.add_global_opt_pass()
            run_on(module, passes)
            return str(module)
    except RuntimeError as error:
        raise AirFormatError(f"its constants' code is not understood: {error}") from None


def _normalised(found: re.Match[str]) -> str:
    """Whether a predicate is not 0, as 0 or 1."""
    test = f"%assay.predicate.{found[1][1:]}"
    return f"  {test} = icmp ne i8 {found[2]}, 0\n  {found[1]} = zext i1 {test} to i8"
