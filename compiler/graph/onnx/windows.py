"""How windows lie over a plane: kernels, strides, padding, and what TOSA wants of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Node
from .state import State, attribute
from .values import NotForNpu, Tensor


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How windows lie: rows and columns, begins before ends."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pads: tuple[int, int, int, int]
    """Top, bottom, left, right."""


def windows_of(node: Node, plane: Sequence[int], kernel: Sequence[int]) -> Windows:
    """The windows of a node over a plane of rows and columns. Raises NotForNpu.

    What the node says of columns alone is for planes of one row.
    """
    rows, columns = _pair(attribute(node, "kernel_shape", list(kernel)), 1)
    stride, dilation = (_pair(attribute(node, name, []), 1) for name in ("strides", "dilations"))
    pads = [int(n) for n in attribute(node, "pads", [0, 0, 0, 0])]
    if len(pads) not in (2, 4) or min(pads) < 0:
        raise NotForNpu(f"padding {pads}")
    half = len(pads) // 2
    begins, ends = _pair(pads[:half], 0), _pair(pads[half:], 0)
    auto = attribute(node, "auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        both = []
        for size, taps, step, gap in zip(plane, (rows, columns), stride, dilation, strict=True):
            whole = max(0, (-(-size // step) - 1) * step + (taps - 1) * gap + 1 - size)
            small, large = whole // 2, whole - whole // 2
            both.append((small, large) if auto == "SAME_UPPER" else (large, small))
        begins, ends = (both[0][0], both[1][0]), (both[0][1], both[1][1])
    elif auto == "VALID":
        begins = ends = (0, 0)
    reaches = [(taps - 1) * gap + 1 for taps, gap in zip((rows, columns), dilation, strict=True)]
    bottom, right = (
        _ceiled(node, int(plane[i]), begins[i], ends[i], reaches[i], stride[i]) for i in (0, 1)
    )
    return Windows(
        kernel=(rows, columns),
        stride=stride,
        dilation=dilation,
        pads=(begins[0], bottom, begins[1], right),
    )


def _pair(values: Sequence[int], default: int) -> tuple[int, int]:
    """Of rows and of columns; of columns alone where there is one number."""
    if len(values) > 2:
        raise NotForNpu(f"windows of {len(values)} dimensions")
    rows, columns = ((default,) * 2 + tuple(values))[-2:]
    return int(rows), int(columns)


def _ceiled(node: Node, size: int, before: int, behind: int, reach: int, step: int) -> int:
    """The padding behind; with `ceil_mode` as much as another window needs that starts inside."""
    if not attribute(node, "ceil_mode", 0):
        return behind
    count = -(-(size + before + behind - reach) // step) + 1
    if (count - 1) * step >= size + before:
        count -= 1
    return max(behind, (count - 1) * step + reach - size - before)


def cropped(state: State, x: Tensor, windows: Windows) -> tuple[Tensor, Windows]:
    """The plane and windows without rows and columns that no window reaches, as TOSA wants it.

    `x` has its channels last. Raises NotForNpu where no window fits.
    """
    pads, sizes = list(windows.pads), list(x.shape[2:4])
    for axis in (0, 1):
        reach = (windows.kernel[axis] - 1) * windows.dilation[axis] + 1
        room = sizes[axis] + pads[2 * axis] + pads[2 * axis + 1] - reach
        if room < 0:
            raise NotForNpu(f"a window of {windows.kernel} does not fit into {tuple(x.shape[2:4])}")
        rest = room % windows.stride[axis]
        from_pads = min(rest, pads[2 * axis + 1])
        pads[2 * axis + 1] -= from_pads
        sizes[axis] -= rest - from_pads
    if sizes != list(x.shape[2:4]):
        n, channels = x.shape[:2]
        shape = (n, *sizes, channels)
        operands = [x.value, state.writer.sizes((0, 0, 0, 0)), state.writer.sizes(shape)]
        value = state.writer.emit("slice", operands, x.dtype, shape)
        x = Tensor(value=value, dtype=x.dtype, shape=(n, channels, *sizes), last=True)
    return x, Windows(
        kernel=windows.kernel,
        stride=windows.stride,
        dilation=windows.dilation,
        pads=(pads[0], pads[1], pads[2], pads[3]),
    )


def outputs_of(x: Tensor, windows: Windows) -> tuple[int, int]:
    """Rows and columns of what windows make."""
    found = []
    for axis in (0, 1):
        reach = (windows.kernel[axis] - 1) * windows.dilation[axis] + 1
        around = windows.pads[2 * axis] + windows.pads[2 * axis + 1]
        found.append((x.shape[2 + axis] + around - reach) // windows.stride[axis] + 1)
    return found[0], found[1]


def pooled_shape(x: Tensor, windows: Windows) -> tuple[int, int, int, int]:
    """(n, c, h, w) of what windows over each channel make."""
    return (x.shape[0], x.shape[1], *outputs_of(x, windows))


def array_text(values: Sequence[int]) -> str:
    """MLIR's text of an array of numbers."""
    return f"array<i64: {', '.join(map(str, values))}>"
