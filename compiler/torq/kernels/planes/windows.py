"""How a kernel moves over planes: which input rows a region of the output needs, and in which
bands of rows the hardware goes over it.

Where output and input are equally wide, a band is all rows: pixels are read one behind the other,
and vectors run over the ends of rows. Where the output is narrower, rows are done one by one, and
those whose window is cut by an edge are bands of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...operators.products import NO_PADDING, Padding
from ...slice.kernel import Window

LARGEST_REACH = 3
LARGEST_KERNEL = 7


def columns_before(columns: int, padding: Padding, stride: int) -> int:
    """Columns of a kernel before its centre: as many as are padded, without any padding or where
    windows begin behind the first column as many as leave no more behind it than the hardware
    reaches.
    """
    if padding != NO_PADDING and padding.left >= 0:
        return padding.left
    least = max(0, columns - 1 - LARGEST_REACH)
    return least + (padding.left - least) % stride


def halves_have_centre(border: int, size: int) -> bool:
    """Whether both the even and the odd taps of `size`, of which `border` lie before the centre,
    reach it. Where there is one tap, there is no odd half.
    """
    odd = size // 2
    return (border + 1) // 2 < (size + 1) // 2 and (not odd or border // 2 < odd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Output rows that one task makes.

    Attributes:
        first, count: rows, counted from the region's first.
        by_row: one row after the other; else as one plane.
        row, column: where the window's first centre is in the input's buffer; with stride 2, in a
            quadrant.
    """

    first: int
    count: int
    by_row: bool
    row: int
    column: int
    window: Window

    def start(self, element: int) -> int:
        """Bytes from a plane's start to the window's first centre."""
        return (self.row * self.window.width + self.column) * element


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A kernel over a plane: sizes as (rows, columns).

    Negative padding on the left says how many columns lie before the first window.
    """

    kernel: tuple[int, int]
    stride: int
    padding: Padding
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    pad_value: int = 0

    @property
    def width(self) -> int:
        """Columns of a plane in memory."""
        return self.inputs[1] // self.stride

    @property
    def is_narrow(self) -> bool:
        """Whether output rows are shorter than those in memory."""
        return self.outputs[1] != self.width

    @property
    def left(self) -> int:
        """Columns of the kernel before its centre."""
        return columns_before(self.kernel[1], self.padding, self.stride)

    def refusal(self) -> str | None:
        """Why the hardware cannot do it, or None."""
        (kh, kw), p = self.kernel, self.padding
        if self.stride not in (1, 2):
            return f"stride {self.stride}; 1 and 2 are possible"
        if max(self.left, kw - 1 - self.left) > LARGEST_REACH or max(kh, kw) > LARGEST_KERNEL:
            return (
                f"a kernel has up to {LARGEST_KERNEL} rows and columns, "
                f"{LARGEST_REACH} to each side; this is {kh}x{kw} with {self.left} to the left"
            )
        if p.top >= kh or p.left >= kw or min(p.top, p.bottom, p.right) < 0:
            return f"{p} is not less than the kernel, {kh}x{kw}"
        if p.left < 0 and (p.right or self.left >= kw):
            return f"{p}: windows of {kw} columns that begin behind the first one"
        if any(n % self.stride for n in self.inputs):
            return f"stride 2 of an input of {self.inputs[0]}x{self.inputs[1]}, which is not even"
        if self.outputs[1] > self.width:
            return f"{self.outputs[1]} columns of {self.inputs[1]}: more than there are"
        for axis, (behind, size) in enumerate(((p.bottom, kh), (p.right, kw))):
            start = (p.top, p.left)[axis]
            reach = (self.outputs[axis] - 1) * self.stride - start + size
            if reach > self.inputs[axis] + behind or behind >= size:
                planes = " of ".join(f"{n[0]}x{n[1]}" for n in (self.outputs, self.inputs))
                return (
                    f"a {kh}x{kw} kernel with stride {self.stride} and {p} does not make a plane "
                    f"of {planes}"
                )
        last = (self.outputs[0] - 1) * self.stride - p.top
        if last + last % self.stride >= self.inputs[0]:
            return f"{p}: windows of the last row have only padding at their centre"
        return self._halves_refused()

    def _halves_refused(self) -> str | None:
        """With stride 2 the even and the odd half of a kernel must each contain its centre."""
        if self.stride == 1 or self.kernel == (1, 1):
            return None
        for border, size in zip((self.padding.top, self.left), self.kernel, strict=True):
            if not halves_have_centre(border, size):
                return f"stride 2 of {size} rows or columns of which {border} are padding"
        return None

    def rows(self, first: int, count: int) -> tuple[int, int, int, int]:
        """(first row, behind the last row, rows missing before, behind) of the input.

        With stride 2 rows are whole pairs.
        """
        s, height = self.stride, self.inputs[0]
        start = s * first - self.padding.top
        stop = s * (first + count - 1) - self.padding.top + self.kernel[0]
        low, high = max(start, 0), min(stop, height)
        low, high = low // s * s, -(-high // s) * s
        return low, high, max(-start, 0), max(stop - height, 0)

    def bands(self, first: int, count: int, *, pairs: bool = False) -> list[Band]:
        """The bands of `count` output rows from `first` on, given the input rows that they need.

        `pairs`: bands by row have an even number of rows from an even one on, or one row.
        """
        if not self.is_narrow:
            return [self._band(first, first, count, count, by_row=False)]
        found: list[Band] = []
        row = first
        while row < first + count:
            size = 1
            if not self._is_cut(row):
                while row + size < first + count and not self._is_cut(row + size):
                    size += 1
                if pairs and size > 1:
                    size = 1 if row % 2 else size // 2 * 2
            found.append(self._band(first, row, size, count, by_row=size > 1))
            row += size
        return found

    def _is_cut(self, row: int) -> bool:
        _, _, before, behind = self.rows(row, 1)
        return before > 0 or behind > 0

    def _band(self, region: int, first: int, count: int, whole: int, *, by_row: bool) -> Band:
        (kh, kw), s = self.kernel, self.stride
        start = s * first - self.padding.top
        top = -start if start < 0 else start % s
        held_from, held_to, _, _ = self.rows(region, whole)
        row = (start + top - held_from) // s
        _, _, before, behind = self.rows(first, count)
        reach = (self.outputs[1] - 1) * s - self.padding.left + kw
        window = Window(
            height=(held_to - held_from) // s - row,
            width=self.width,
            left=self.left,
            right=kw - 1 - self.left,
            top=top,
            bottom=kh - 1 - top,
            pad_left=self.padding.left > 0,
            pad_right=reach > self.inputs[1],
            pad_top=before > 0,
            pad_bottom=behind > 0,
            pad_value=self.pad_value,
            # A single tap of every second row and column is the first quadrant as it is.
            stride=1 if self.kernel == (1, 1) else s,
        )
        return Band(
            first=first - region,
            count=count,
            by_row=by_row,
            row=row,
            column=(self.left - self.padding.left) // s,
            window=window,
        )
