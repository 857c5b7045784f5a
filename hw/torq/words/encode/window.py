"""Kernel windows and padding: from borders of kernel and plane to DEDR's registers.

Stride 1 reads the plane as it is; stride 2 reads four planes of even and odd rows and columns.
Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from dataclasses import dataclass

from ...facts.registers import Image
from ..commands import Ndl, SliceTask
from ..errors import EncodeError
from .descriptor import SkippedStep
from .word import WordShape

MASK_BITS = 36
MASK_PHASE = 18
"""Mask bit i says whether flattened position i - 18 is the last of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How one kernel window lies on the plane, in pixels, for DEDR's registers."""

    left: int
    top: int
    extra: int
    """How many pixels more than it advances a word carries."""
    first_row: int
    """Rows before this one (of the padded plane) are padding."""
    last_row: int
    x_distance: int = 0
    y_distance: int = 0
    y_extra: int = 0


def check_window(task: SliceTask) -> None:
    """Raises EncodeError for borders, padding and strides that the hardware does not have."""
    for name in ("kernel_left", "kernel_right"):
        border = getattr(task, name)
        if not 0 <= border <= 3:
            raise EncodeError(f"is {border}; 0 to 3 are possible (2 bits)", dim=name)
    for name in ("kernel_top", "kernel_bottom"):
        if getattr(task, name) < 0:
            raise EncodeError(f"is {getattr(task, name)}, less than 0", dim=name)
    for name in ("pad_left", "pad_right"):
        if getattr(task, name) not in (0, 1):
            raise EncodeError(
                f"is {getattr(task, name)}; it is a flag, 0 or 1: how far is the kernel's border",
                dim=name,
            )
    for name, border in (("pad_top", task.kernel_top), ("pad_bottom", task.kernel_bottom)):
        if getattr(task, name) not in (0, border):
            raise EncodeError(
                f"is {getattr(task, name)}; it is 0 or the kernel's border, {border}", dim=name
            )
    if task.stride not in (0, 1, 2):
        raise EncodeError(f"is {task.stride}; 1 and 2 are possible", dim="stride")
    if task.stride_offset and not 0 < task.stride_offset < task.stride:
        raise EncodeError(
            f"is {task.stride_offset}; it is less than the stride, {task.stride}",
            dim="stride_offset",
        )
    if task.stride == 2:
        _window_of_two(task, 1)


def window(task: SliceTask, height: int) -> Window:
    """The window of a task whose output plane has `height` rows. Raises EncodeError."""
    if task.stride == 2:
        return _window_of_two(task, height)
    rows = task.kernel_top + task.kernel_bottom + 1
    return Window(
        left=task.kernel_left,
        top=task.kernel_top,
        extra=min(2, task.kernel_left + task.kernel_right),
        first_row=task.pad_top,
        last_row=height + rows - 2 - task.pad_bottom,
    )


def _window_of_two(task: SliceTask, height: int) -> Window:
    columns = task.kernel_left + task.kernel_right + 1
    rows = task.kernel_top + task.kernel_bottom + 1
    left, left_odd = _halves(task.kernel_left, task.stride_offset)
    top, top_odd = _halves(task.kernel_top, task.stride_offset)
    _check_half("kernel_left", left, (columns + 1) // 2, always=True)
    _check_half("kernel_left", left_odd, columns // 2, always=False)
    _check_half("kernel_top", top, (rows + 1) // 2, always=True)
    _check_half("kernel_top", top_odd, rows // 2, always=False)
    even, odd = (rows + 1) // 2, rows // 2
    bottom, bottom_odd = even - 1 - top, odd - 1 - top_odd
    padded = task.pad_bottom > 0
    return Window(
        left=left,
        top=top,
        extra=min(2, (columns + 1) // 2 - 1),
        first_row=top if task.pad_top > 0 else 0,
        last_row=height + even - 2 - (bottom if padded else 0),
        x_distance=left - left_odd,
        y_distance=top_odd - top if odd else 0,
        y_extra=odd - even - (bottom_odd - bottom if padded else 0) if odd else 0,
    )


def _halves(border: int, offset: int) -> tuple[int, int]:
    """How much of a kernel's border falls on even and on odd columns (rows)."""
    even = (border - offset + 1) >> 1
    return even, border - offset - even


def _check_half(name: str, border: int, size: int, *, always: bool) -> None:
    """With stride 2 each half of a kernel must contain its centre."""
    if (always or size > 0) and not 0 <= border < size:
        raise EncodeError(
            "with stride 2 and this stride_offset, one half of the kernel does not contain its "
            "centre",
            dim=name,
        )


def skipped_steps(ndl: Ndl, task: SliceTask) -> tuple[SkippedStep, ...]:
    """The rows loop's and the columns loop's skipped steps; none with stride 1."""
    if task.stride != 2:
        return ()
    rows = (task.kernel_top + 1 + task.kernel_bottom) & 1
    columns = (task.kernel_left + 1 + task.kernel_right) % 6 == 1
    return (
        SkippedStep(
            index=_first(ndl, "J"), size=rows if task.kernel_top or task.kernel_bottom else 0
        ),
        SkippedStep(
            index=_first(ndl, "I"), size=int(columns and task.kernel_left + task.kernel_right > 0)
        ),
    )


def _first(ndl: Ndl, tag: str) -> int:
    """The first high dimension with a tag; the hardware's interface says -1 - low dims if none."""
    found = [index for index, dim in enumerate(ndl.high) if dim.tag == tag]
    return found[0] if found else -1 - len(ndl.low)


def base_shift(task: SliceTask, width: int, shape: WordShape) -> int:
    """How many bytes before the given base address DEDR starts: up and left by the borders."""
    view = window(task, 1)
    return (view.left + view.top * width) * (2 if shape.unit == 2 else 1)


def put_window(image: Image, task: SliceTask, plane: tuple[int, int], shape: WordShape) -> None:
    """Sets DEDR's window registers; `plane` is the output's width and height."""
    width, height = plane
    view = window(task, height)
    masked = bool(task.pad_left or task.pad_right)
    clipped = bool(task.pad_top or task.pad_bottom)
    image["DE_D_R.xmask_en"] = masked
    image["DE_D_R.ymask_en"] = clipped
    _put(image, "DE_D_R.x_size", width, strict=masked or clipped)
    mask = row_ends(width)
    image["DE_D_R.mask_lo"] = mask & 0xFFFFFFFF
    image["DE_D_R.mask_hi"] = mask >> 32
    image["DE_D_R.x_init"] = -view.left
    first = max(view.first_row * width + view.left, 0)
    _put(image, "DE_D_R.ypad_min", first, strict=clipped)
    _put(image, "DE_D_R.ypad_max", (view.last_row + 1) * width + view.left - 1, strict=clipped)
    # 64 is stored as 0.
    image.wrap("DE_D_R.w_step", (shape.data - view.extra) * shape.unit)
    if task.stride == 2:
        image["DE_D_R.stride"] = 1
        image["DE_D_R.xi_dist"] = view.x_distance
        image["DE_D_R.yi_dist"] = view.y_distance
        image["DE_D_R.ye_dist"] = view.y_extra


def put_skipped(image: Image, steps: tuple[SkippedStep, ...]) -> None:
    """Sets the skipped steps' registers. Two for one loop differ by the next index."""
    if not steps:
        return
    rows, columns = steps
    image.wrap("DE_D_R.ndss_idx", rows.index)
    image["DE_D_R.ndss_size"] = rows.size
    image.wrap("DE_D_R.ndss_idx1", columns.index)
    image["DE_D_R.ndss_size1"] = columns.size
    if image["DE_D_R.ndss_idx"] != image["DE_D_R.ndss_idx1"]:
        return
    if rows.size and columns.size:
        raise EncodeError("rows and columns cannot both skip a step of one loop", agent="DEDR")
    if columns.size:
        image.wrap("DE_D_R.ndss_idx", rows.index + 1)
    elif rows.size:
        image.wrap("DE_D_R.ndss_idx1", columns.index + 1)


def row_ends(width: int) -> int:
    """The mask of row ends around a plane's first pixel, for planes `width` pixels wide."""
    return sum(1 << i for i in range(MASK_BITS) if (i - MASK_PHASE) % width == width - 1)


def _put(image: Image, name: str, value: int, *, strict: bool) -> None:
    """Sets a register that only matters when padding is on, and wraps like the hardware if not."""
    if not strict:
        image.wrap(name, value)
        return
    try:
        image[name] = value
    except ValueError as error:
        raise EncodeError(f"the plane is too large for padding: {error}", agent="DEDR") from None
