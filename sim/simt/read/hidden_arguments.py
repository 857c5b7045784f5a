"""Arguments that the source does not name: functions that give them become the parameter itself."""

from __future__ import annotations

from .llvm_records import FunctionText, Operand

# The buffer that os_log writes its records into: the last parameter of a kernel that logs.
LOG_BUFFER = "@__assay_log_buffer"


def bind_hidden_arguments(text: FunctionText) -> None:
    """Replace calls that ask for the log buffer by the entry function's last parameter."""
    if not text.parameters:
        return
    name, kind = text.parameters[-1]
    for records in text.blocks.values():
        for record in records:
            if record.op == "call" and record.callee == LOG_BUFFER:
                record.op, record.callee = "addrspacecast", ""
                record.operands = [Operand(kind, name)]
