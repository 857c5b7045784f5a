"""The `check` module: what test programs expect of their values, as `iree-check-module` has it.

A failed expectation does not stop the program; it is recorded with IREE's words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import element_type as elements
from ...buffer import BufferView
from ...device import Device
from ...status import invalid_argument
from ..marshal import view_array
from ..values import require
from .registry import NativeModule, export

_MOST_ELEMENTS_SHOWN = 1024


class CheckModule(NativeModule):
    """Collects failures; `take_failures` hands them over."""

    name = "check"

    def __init__(self) -> None:
        self._failures: list[str] = []

    def take_failures(self) -> list[str]:
        """The failures since the last call."""
        failures, self._failures = self._failures, []
        return failures

    @export("expect_true", "0i_v")
    def _expect_true(self, value: int) -> None:
        if not value:
            self._failures.append(f"Expected {value} to be nonzero.")

    @export("expect_false", "0i_v")
    def _expect_false(self, value: int) -> None:
        if value:
            self._failures.append(f"Expected {value} to be zero.")

    @export("expect_all_true", "0rr_v")
    def _expect_all_true(self, device: Any, view: Any) -> None:
        operand = require(BufferView, view)
        array = _array(device, operand)
        if elements.numerical_type(operand.element_type) not in (0x10, 0x11, 0x12, 0x13, 0x21):
            raise invalid_argument(
                f"unsupported element type {elements.text(operand.element_type)}"
            )
        wrong = np.flatnonzero(array.reshape(-1) == 0)
        if wrong.size:
            self._failures.append(
                f"Expected all elements to be true; element {wrong[0]} is not.\n"
                f"  operand:\n    {view_text(operand, array)}"
            )

    @export("expect_eq", "0rrr_v")
    def _expect_eq(self, device: Any, left: Any, right: Any) -> None:
        lhs, rhs = require(BufferView, left), require(BufferView, right)
        a, b = _array(device, lhs), _array(device, rhs)
        faults = _form_faults(lhs, rhs)
        # Bit by bit: NaN equals itself, and the zeros differ.
        if a.tobytes() != b.tobytes():
            faults += " Contents does not match."
        if faults:
            self._report("Expected equality of these values." + faults, lhs, a, rhs, b)

    @export("expect_almost_eq", "0rrrff_v")
    def _expect_almost_eq(
        self, device: Any, left: Any, right: Any, atol: float, rtol: float
    ) -> None:
        lhs, rhs = require(BufferView, left), require(BufferView, right)
        a, b = _array(device, lhs), _array(device, rhs)
        faults = _form_faults(lhs, rhs)
        if not faults:
            faults = _tolerance_fault(lhs, a, b, atol, rtol)
        if faults:
            self._report("Expected near equality of these values." + faults, lhs, a, rhs, b)

    def _report(
        self,
        text: str,
        lhs: BufferView,
        a: npt.NDArray[Any],
        rhs: BufferView,
        b: npt.NDArray[Any],
    ) -> None:
        self._failures.append(
            f"{text}\n  lhs:\n    {view_text(lhs, a)}\n  rhs:\n    {view_text(rhs, b)}"
        )


def _array(device: Any, view: BufferView) -> npt.NDArray[Any]:
    return view_array(require(Device, device), view)  # type: ignore[type-abstract]


def _form_faults(lhs: BufferView, rhs: BufferView) -> str:
    faults = ""
    if lhs.element_type != rhs.element_type:
        faults += " Element types do not match."
    if lhs.shape != rhs.shape:
        faults += " Shapes do not match."
    return faults


def _tolerance_fault(
    view: BufferView, a: npt.NDArray[Any], b: npt.NDArray[Any], atol: float, rtol: float
) -> str:
    """What is wrong with two arrays of one shape, or an empty text."""
    if not 0x21 <= elements.numerical_type(view.element_type) <= 0x28 or a.dtype.kind == "c":
        raise invalid_argument(f"unsupported element type {elements.text(view.element_type)}")
    left, right = a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        close = (left == right) | (np.isnan(left) & np.isnan(right))
        close |= np.isfinite(right) & (np.abs(left - right) <= atol + rtol * np.abs(right))
    wrong = np.flatnonzero(~close)
    if not wrong.size:
        return ""
    index = int(wrong[0])
    return (
        f" Contents does not match to tolerance parameters atol={atol:g}, rtol={rtol:g}. The "
        f"first failure occurs at index {index} as the lhs value {left[index]:g} differs from "
        f"the rhs value {right[index]:g} by {right[index] - left[index]:.3e}."
    )


def view_text(view: BufferView, array: npt.NDArray[Any]) -> str:
    """A buffer view as IREE prints it: `2x2xf32=[1 2][3 4]`."""
    shape = "".join(f"{dimension}x" for dimension in view.shape)
    flat = array.reshape(-1)
    shown = flat[:_MOST_ELEMENTS_SHOWN]
    if shown.dtype.kind in "biu":
        texts = [str(int(value)) for value in shown]
    else:
        texts = [f"{float(value):g}" if shown.dtype.kind != "c" else str(value) for value in shown]
    if flat.size > shown.size:
        texts.append("...")
    width = view.shape[-1] if len(view.shape) > 1 else 0
    if width:
        rows = [" ".join(texts[i : i + width]) for i in range(0, len(texts), width)]
        body = "".join(f"[{row}]" for row in rows)
    else:
        body = " ".join(texts)
    return f"{shape}{elements.text(view.element_type)}={body}"
