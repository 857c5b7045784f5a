"""From DEDR's registers back to kernel, padding and plane: one of the tasks that have these words.

Borders above and below the kernel are not in the words themselves, only what follows from them;
several tasks have the same words, and the one given is canonical: padded on both sides where that
is possible, with the number of kernel rows that DEDR's J loops count.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...facts.registers import Image
from ..commands import SliceTask
from ..encode.window import Window, window
from ..errors import DecodeError, EncodeError

MOST_ROWS = 7
"""Kernel borders that are tried with stride 2, of which the words do not say enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borders:
    """What is above and below the kernel and the plane, and the plane's width and height."""

    kernel_top: int = 0
    kernel_bottom: int = 0
    pad_top: int = 0
    pad_bottom: int = 0
    width: int = 1
    height: int = 1


def borders(image: Image, task: SliceTask, kernel_rows: int, address: int) -> Borders:
    """The canonical borders; `task` has what CE.COMM says. Raises DecodeError at `address`."""
    width = image["DE_D_R.x_size"]
    if not width:
        raise DecodeError(address, "DE_D_R.x_size is 0: a plane has at least one column")
    left = _left(task)
    first, beyond = image["DE_D_R.ypad_min"] - left, image["DE_D_R.ypad_max"] + 1 - left
    if first % width or beyond % width or first < 0:
        raise DecodeError(
            address,
            f"DE_D_R.ypad_min {first + left} and ypad_max {beyond + left - 1} are no whole rows of "
            f"{width} pixels from column {left} on",
        )
    rows = (first // width, beyond // width)
    masked = bool(image["DE_D_R.ymask_en"])
    for found in _candidates(task, kernel_rows, rows, masked, width):
        if found.height >= 1 and _agrees(image, task, found, rows):
            return found
    raise DecodeError(address, "no kernel and padding have these window registers")


def with_borders(task: SliceTask, found: Borders) -> SliceTask:
    """The task with these borders."""
    values = {name: getattr(task, name) for name in SliceTask.__dataclass_fields__}
    for name in ("kernel_top", "kernel_bottom", "pad_top", "pad_bottom"):
        values[name] = getattr(found, name)
    return SliceTask(**values)


def _left(task: SliceTask) -> int:
    if task.stride == 2:
        return (task.kernel_left - task.stride_offset + 1) >> 1
    return task.kernel_left


def _candidates(
    task: SliceTask, kernel_rows: int, rows: tuple[int, int], masked: bool, width: int
) -> Iterator[Borders]:
    """Borders to try, likely ones first."""
    if task.stride == 2:
        tops = [(top, bottom) for top in range(MOST_ROWS) for bottom in range(MOST_ROWS)]
        tops.sort(key=lambda pair: (pair[0] + pair[1] + 1 != kernel_rows, abs(pair[0] - pair[1])))
    else:
        top = rows[0]
        rest = max(kernel_rows - 1 - top, 0)
        tops = [(top, rest), (top, max(rest, 1)), (top, 0)]
    for top, bottom in tops:
        for pad_top, pad_bottom in ((top, bottom), (0, bottom), (top, 0), (0, 0)):
            if bool(pad_top or pad_bottom) == masked:
                yield _with_height(
                    task,
                    rows,
                    Borders(
                        kernel_top=top,
                        kernel_bottom=bottom,
                        pad_top=pad_top,
                        pad_bottom=pad_bottom,
                        width=width,
                    ),
                )


def _with_height(task: SliceTask, rows: tuple[int, int], found: Borders) -> Borders:
    """The height follows from where the bottom padding begins; 0 when nothing fits."""
    view = _window(with_borders(task, found), 0)
    height = 0 if view is None else rows[1] - (view.last_row + 1)
    values = {name: getattr(found, name) for name in Borders.__dataclass_fields__}
    return Borders(**{**values, "height": height})


def _agrees(image: Image, task: SliceTask, found: Borders, rows: tuple[int, int]) -> bool:
    view = _window(with_borders(task, found), found.height)
    if view is None or (view.first_row, view.last_row + 1) != rows:
        return False
    if task.stride != 2:
        return True
    taps = found.kernel_top + found.kernel_bottom
    return (
        image["DE_D_R.xi_dist"] == view.x_distance % 4
        and image["DE_D_R.yi_dist"] == view.y_distance % 4
        and image["DE_D_R.ye_dist"] == view.y_extra % 8
        and image["DE_D_R.ndss_size"] == ((taps + 1) & 1 if taps else 0)
    )


def _window(task: SliceTask, height: int) -> Window | None:
    """The window, or None where a half of the kernel would have no centre."""
    try:
        return window(task, height)
    except EncodeError:
        return None
