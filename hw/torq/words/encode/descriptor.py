"""NDL descriptors in LRAM: a header, then two words per high dimension with delta-coded strides.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...facts.machine import limit
from ..commands import Dim, Ndl, SliceTask
from ..errors import EncodeError

MOST_HIGH_DIMS, MOST_DIMS = limit("descriptor_loops"), limit("list_loops")
MOST_WORDS = 63
"""Of all descriptors of one agent in one task together."""
LAST_DIM = 1 << 31
LAST_DESCRIPTOR = 1 << 31 | 2 << 28
ADDRESS_BITS = 24
COUNT_BITS = 28
STRIDE_BITS = 24
DIM_COUNT_SHIFT = 24
TAG_SHIFT = 28
PAD_SHIFT = 28

TAG_CODES = {"DEDR": {"A": 4, "J": 2, "I": 1}, "DEQW": {"A": 4}}
"""Of high dimensions, by agent; the others' have no tags."""
PARITY_CODES = {"J": 6, "I": 5}
"""With stride 2: of the first J, and of the last I dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedStep:
    """With stride 2 the odd half of a kernel may have one row or column less: the loop `index`
    (counted from the first high dimension; negative when there is none) skips `size` steps.
    """

    index: int
    size: int


def descriptor(
    ndl: Ndl, base: int, task: SliceTask, skipped: Sequence[SkippedStep] = ()
) -> tuple[int, ...]:
    """The words of one descriptor that starts at `base`. Raises EncodeError.

    `skipped` is for DEDR with stride 2; `task` is asked for its stride only.
    """
    check_dims(ndl)
    if not 0 <= base < 1 << ADDRESS_BITS:
        raise EncodeError(
            f"base address {base:#x} does not fit {ADDRESS_BITS} bits", agent=ndl.name
        )
    words = [len(ndl.high) << DIM_COUNT_SHIFT | base]
    codes = tag_codes(ndl, task)
    for index, (dim, delta) in enumerate(zip(ndl.high, deltas(ndl.high), strict=True)):
        delta += sum(
            ndl.high[step.index].stride * step.size
            for step in skipped
            if 0 <= step.index < index - 1
        )
        words += _dim_words(ndl, f"high[{index}]", dim, delta, codes[index])
    words[-2] |= LAST_DIM
    return tuple(words)


def check_dims(ndl: Ndl) -> None:
    """Raises EncodeError when there are too few or too many dimensions, or one without steps."""
    if not 1 <= len(ndl.high) <= MOST_HIGH_DIMS:
        raise EncodeError(
            f"has {len(ndl.high)} high dimensions; 1 to {MOST_HIGH_DIMS} are possible",
            agent=ndl.name,
        )
    if len(ndl.low) + len(ndl.high) + len(ndl.special) > MOST_DIMS:
        raise EncodeError(f"has more than {MOST_DIMS} dimensions", agent=ndl.name)
    for index, dim in enumerate(ndl.high):
        if not 1 <= dim.count < 1 << COUNT_BITS:
            raise EncodeError(
                f"has {dim.count} steps; 1 to 2^{COUNT_BITS} - 1 are possible",
                agent=ndl.name,
                dim=f"high[{index}]",
            )


def deltas(dims: Sequence[Dim]) -> list[int]:
    """What each loop adds when it steps: its stride less what the loops inside it have moved."""
    found, moved = [], 0
    for dim in dims:
        found.append(dim.stride - moved)
        moved += (dim.count - 1) * dim.stride
    return found


def tag_codes(ndl: Ndl, task: SliceTask) -> list[int]:
    """The tag field of each high dimension."""
    known = TAG_CODES.get(ndl.agent, {})
    codes = [known.get(dim.tag, 0) for dim in ndl.high]
    if task.stride == 2 and ndl.agent == "DEDR":
        columns = [i for i, dim in enumerate(ndl.high) if dim.tag == "I"]
        rows = [i for i, dim in enumerate(ndl.high) if dim.tag == "J"]
        for index in columns[-1:] + rows[:1]:
            codes[index] = PARITY_CODES[ndl.high[index].tag]
    return codes


def _dim_words(ndl: Ndl, where: str, dim: Dim, delta: int, code: int) -> tuple[int, int]:
    if not -(1 << STRIDE_BITS - 1) <= delta < 1 << STRIDE_BITS - 1:
        raise EncodeError(
            f"stride {dim.stride} less what the inner loops move is {delta}; a signed "
            f"{STRIDE_BITS}-bit number is possible",
            agent=ndl.name,
            dim=where,
        )
    pad = max(dim.pad, 0)
    if pad > 15:
        raise EncodeError(f"pad {dim.pad} is more than 15", agent=ndl.name, dim=where)
    return (
        code << TAG_SHIFT | dim.count,
        pad << PAD_SHIFT | delta & (1 << STRIDE_BITS) - 1,
    )
