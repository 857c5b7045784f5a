"""Memory whose size a module computes, of which the engine wants to know how much it is.

Cooperative tensors are such: functions tell how many bytes they take, of constants alone.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from assay.sim.native.llvm_modules import module_of, run_on

_VARIABLE = re.compile(r"= alloca [^\n]+?, i(?:32|64) %")
_STACK = re.compile(
    r"^  (?:%\S+ = )?(?:tail )?call (?:ptr @llvm\.stacksave|void @llvm\.stackrestore)[^\n]*\n",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"^define [^\n]*\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
_FIXED = re.compile(r"^  %\S+ = alloca [^\n]*\n", re.MULTILINE)


def with_fixed_sizes(bitcode: bytes) -> bytes:
    """The module with memory of fixed size at the start of functions, as far as constants tell it.

    Raises:
        RuntimeError: if it does not load.
    """
    with module_of(bitcode) as module:
        text = str(module)
        if not _VARIABLE.search(text):
            return bitcode
    with module_of(_STACK.sub("", text)) as module:
        for variable in module.global_variables:
            if str(variable.type).endswith("addrspace(3)"):
                variable.linkage = "external"  # what other threads write is no constant
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
        passes.add_ipsccp_pass()
        passes.add_instruction_combine_pass()
        passes.add_instruction_namer_pass()  # so that an order of lines is not one of numbers
        run_on(module, passes)
        text = str(module)
    with module_of(_FUNCTION.sub(_at_its_start, text)) as module:
        return bytes(module.as_bitcode())


def _at_its_start(found: re.Match[str]) -> str:
    """A function whose memory of fixed size comes first; of that a loop gets the same each time."""
    body, start = found["body"], found.start("body") - found.start()
    label = re.match(r"\w+:[^\n]*\n", body)
    first = label[0] if label else ""
    fixed = "".join(line for line in _FIXED.findall(body) if not _VARIABLE.search(line))
    rest = _FIXED.sub(lambda each: "" if each[0] in fixed else each[0], body[len(first) :])
    return found[0][:start] + first + fixed + rest + "}"
