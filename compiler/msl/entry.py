"""Writes the C++ that makes one entry point callable by the engine.

The wrapper's parameters are the kernel's arguments alone, as pointers; grid positions come from
the engine's intrinsics. Types are asked from the compiler (`decltype` of the kernel), and what the
host must know of them is returned through the mangled name of a marker function. Clang prints how
structs are laid out; see `layouts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .layouts import key_of
from .rewrite.kernels import EntryPoint

SYMBOL = "__assay_entry"
# Stands for the index of an argument that has none in the source.
NO_INDEX = 2**32


def wrapper(
    entry: EntryPoint,
    omitted: frozenset[str] = frozenset(),
    arrays: Mapping[str, int] | None = None,
    *,
    checking: bool = False,
    logs: bool = False,
) -> str:
    """C++ text to append to the rewritten library; arguments named in `omitted` are null.

    `arrays` says how many buffers an argument is that is an array of them: each becomes a parameter
    of its own. `logs` adds the buffer of os_log as last parameter, in which the engine finds it.
    `checking` asks for no values of function constants, which have none yet.
    """
    function = entry.expression
    declared: list[str] = []
    passed: list[str] = []
    reflected: list[str] = []
    laid_out: list[str] = []
    for number, parameter in enumerate(entry.parameters):
        kind = f"__assay_argument<decltype({function}), {number}>"
        if parameter.position:
            passed.append(f"__assay_get_{parameter.position}<{kind}>()")
            continue
        if parameter.name in omitted:
            passed.append(f"__assay_pass<{kind}>(nullptr)")
            continue
        count = (arrays or {}).get(parameter.name, 0)
        if count:
            names = [f"__assay_{number}_{place}" for place in range(count)]
            declared += [f"__assay_one<{kind}>::pointer {name}" for name in names]
            passed.append(f"{kind}{{{{{', '.join(names)}}}}}")
        else:
            declared.append(f"__assay_pointer<{kind}> __assay_{number}")
            passed.append(f"__assay_pass<{kind}>(__assay_{number})")
        pointee = f"__assay_one<{kind}>::pointee"
        laid_out.append(
            f"static_assert(__assay_laid_out<{key_of(entry.name)}ul, {number}, "
            f'metal::__bare_t<{pointee}>>, ""); '
        )
        reflected += [
            parameter.index or str(NO_INDEX),
            f"__assay_size<{pointee}>",
            f"__assay_alignment<{pointee}>",
            f"__assay_space<__assay_one<{kind}>::pointer>",
            f"__assay_is_const<{pointee}>",
            f"__assay_details<{kind}>",
            f"__assay_numbers<metal::__bare_t<{pointee}>>",
            f"bool({parameter.condition or 'true'})" if not checking else "true",
        ]
        for member in parameter.members:
            reflected += [member.id, f"__builtin_offsetof({pointee}, {member.name})"]
    if logs:
        declared.append("__ASSAY_DEVICE unsigned* __assay_log")
    limit = "0" if checking else entry.max_threads or "0"
    file = entry.file.replace("\\", "\\\\").replace('"', '\\"')
    marks = ", ".join([f"(unsigned long)({limit})", *[f"(unsigned long)({v})" for v in reflected]])
    return (
        f'\n# {entry.line} "{file}"\n'
        f'extern "C" [[clang::sycl_external]] void {SYMBOL}({", ".join(declared)}) '
        f"{{ {function}({', '.join(passed)}); }} "
        f"{''.join(laid_out)}template void __assay_reflect<{marks}>();\n"
    )
