"""Random control-flow graphs, also irreducible ones, as kernels in LLVM IR.

Every block changes some of three variables and chooses where to go by their bits; a step counter
ends every walk. Each thread writes its variables to its own place in `out`.
"""

from __future__ import annotations

from hypothesis import strategies as st

VARIABLES = 3
# What is defined for all operands: undefined behaviour lets LLVM change where a walk goes.
_OPS = ("add", "sub", "mul", "xor", "or", "and")
_HEAD = """
declare i32 @__assay_thread_position_in_grid(i32)
declare i32 @__assay_simd_sum_u32(i32, i32) convergent nounwind
define void @kernel_entry(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = call i32 @__assay_thread_position_in_grid(i32 0)
  %x64 = zext i32 %x to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %x64
  %first = load i32, ptr addrspace(1) %from, align 4
  %steps = alloca i32
  %v0 = alloca i32
  %v1 = alloca i32
  %v2 = alloca i32
  store i32 0, ptr %steps
  store i32 %first, ptr %v0
  store i32 %x, ptr %v1
  store i32 1, ptr %v2
  br label %block0
"""
_TAIL = """
done:
  %s.end = load i32, ptr %steps
  %v0.end = load i32, ptr %v0
  %v1.end = load i32, ptr %v1
  %v2.end = load i32, ptr %v2
  %together = call i32 @__assay_simd_sum_u32(i32 %v0.end, i32 32)
  %at = mul i64 %x64, 20
  %p0 = getelementptr i8, ptr addrspace(1) %out, i64 %at
  store i32 %v0.end, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr i8, ptr addrspace(1) %p0, i64 4
  store i32 %v1.end, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr i8, ptr addrspace(1) %p0, i64 8
  store i32 %v2.end, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr i8, ptr addrspace(1) %p0, i64 12
  store i32 %s.end, ptr addrspace(1) %p3, align 4
  %p4 = getelementptr i8, ptr addrspace(1) %p0, i64 16
  store i32 %together, ptr addrspace(1) %p4, align 4
  ret void
}
"""
OUTPUTS = 5  # 32-bit words that each thread writes
_variable = st.integers(0, VARIABLES - 1)
_operand = st.one_of(_variable.map(lambda v: f"v{v}"), st.integers(0, 40), st.just(-1))


@st.composite
def _change(draw: st.DrawFn) -> tuple[str, int, int, int | str]:
    """`v[target] = v[source] op operand`."""
    return draw(st.sampled_from(_OPS)), draw(_variable), draw(_variable), draw(_operand)


@st.composite
def _choice(draw: st.DrawFn, blocks: int) -> tuple[int, int, list[int]]:
    """A variable, a shift, and one, two or more targets chosen by the bits there.

    One variable more is a number of `in` by steps: lanes that kept together agree on it.
    """
    target = st.integers(0, blocks)  # `blocks` itself means the end
    count = draw(st.sampled_from((1, 2, 2, 2, 3, 4)))
    return (
        draw(st.integers(0, VARIABLES)),
        draw(st.integers(0, 4)),
        [draw(target) for _ in range(count)],
    )


def _chooser(number: int, variable: int) -> list[str]:
    """What sets `%w` to the variable that chooses."""
    if variable < VARIABLES:
        return [f"%w{number} = load i32, ptr %v{variable}"]
    return [
        f"%n{number} = and i32 %t{number}, 63",
        f"%at{number} = getelementptr i32, ptr addrspace(1) %in, i32 %n{number}",
        f"%w{number} = load i32, ptr addrspace(1) %at{number}, align 4",
    ]


def _label(block: int, blocks: int) -> str:
    return f"%block{block}" if block < blocks else "%done"


def _body(number: int, changes: list[tuple[str, int, int, int | str]]) -> list[str]:
    lines = []
    for index, (op, target, source, operand) in enumerate(changes):
        at = f"{number}.{index}"
        lines.append(f"%a{at} = load i32, ptr %v{source}")
        if isinstance(operand, str):
            lines.append(f"%b{at} = load i32, ptr %{operand}")
            operand = f"%b{at}"
        lines.append(f"%c{at} = {op} i32 %a{at}, {operand}")
        lines.append(f"store i32 %c{at}, ptr %v{target}")
    return lines


@st.composite
def graph_kernels(draw: st.DrawFn) -> str:
    """The text of a module with `@kernel_entry(in, out)`."""
    blocks = draw(st.integers(1, 7))
    limit = draw(st.integers(1, 30))
    lines = []
    for number in range(blocks):
        changes = draw(st.lists(_change(), max_size=3))
        variable, shift, targets = draw(_choice(blocks))
        lines += [f"block{number}:", f"%s{number} = load i32, ptr %steps"]
        lines += [f"%t{number} = add i32 %s{number}, 1", f"store i32 %t{number}, ptr %steps"]
        lines += _body(number, changes)
        lines.append(f"%end{number} = icmp uge i32 %t{number}, {limit}")
        lines.append(f"br i1 %end{number}, label %done, label %choose{number}")
        lines.append(f"choose{number}:")
        lines += _chooser(number, variable)
        lines.append(f"%h{number} = lshr i32 %w{number}, {shift}")
        lines.append(f"%k{number} = and i32 %h{number}, 3")
        cases = " ".join(
            f"i32 {case}, label {_label(target, blocks)}" for case, target in enumerate(targets[1:])
        )
        lines.append(f"switch i32 %k{number}, label {_label(targets[0], blocks)} [ {cases} ]")
    return _HEAD + "\n".join(lines) + _TAIL
