"""What a kernel made, and what it should have made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.compiler.torq.slice.tensor import Tensor
from tests.compiler.torq import iree_tosa
from tests.compiler.torq.machine import Array, Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of a kernel.

    Attributes:
        found: what the emulated slice made.
        expected: what the reference makes.
        iree: the same for IREE.
        machine: the slice, for its counts.
    """

    found: Array
    expected: Array
    iree: iree_tosa.Value
    machine: Machine

    @staticmethod
    def of(machine: Machine, output: Tensor, expected: Array, iree: iree_tosa.Value) -> Trial:
        """The trial whose result is in `output`, with numbers expected that its type can hold."""
        found = machine.take(output)
        wanted = expected.astype(found.dtype)
        whole = wanted.dtype.kind in "iu"
        assert not whole or np.array_equal(wanted, expected), f"{expected} as {found.dtype}"
        return Trial(found=found, expected=wanted, iree=iree, machine=machine)

    def equals_reference(self) -> None:
        """Compare the slice with the reference, bit for bit."""
        _same(self.found, self.expected, "the slice and the reference")

    def equals_both(self, answer: Array, name: object = "") -> None:
        """Compare slice, reference and what IREE answered, bit for bit."""
        agree = np.array_equal(_bits(self.expected), _bits(answer))
        verdict = "agrees" if agree else "does not agree"
        _same(self.found, answer, f"{name}: the slice and IREE, with which the reference {verdict}")
        self.equals_reference()


def _same(found: Array, expected: Array, what: str) -> None:
    assert found.dtype == expected.dtype, f"{what}: {found.dtype} and {expected.dtype}"
    np.testing.assert_array_equal(_bits(found), _bits(expected), err_msg=what)


def _bits(values: Array) -> Array:
    """Floats as integers, so that zeros have a sign; which not-a-number it is is left open."""
    if values.dtype.kind in "iub":
        return values
    bits = values.view(f"i{values.dtype.itemsize}")
    return np.where(np.isnan(values), -1, bits)


def all_equal(makers: Sequence[Callable[[], Trial]]) -> None:
    """Compare slice, reference and IREE, which compiles all of the trials at once."""
    trials = [make() for make in makers]
    answers = iree_tosa.results([trial.iree for trial in trials])
    for make, trial, answer in zip(makers, trials, answers, strict=True):
        trial.equals_both(answer, make)


class Trials:
    """Trials with names, which IREE compiles all at once: that is five times as fast."""

    def __init__(self, makers: Mapping[str, Callable[[], Trial]]) -> None:
        self._makers = makers
        self.names = tuple(makers)

    def check(self, name: str) -> None:
        """Compare slice, reference and IREE."""
        trials, answers = self._answers
        trials[name].equals_both(answers[name], self._makers[name])

    @functools.cached_property
    def _answers(self) -> tuple[dict[str, Trial], dict[str, Array]]:
        trials = {name: make() for name, make in self._makers.items()}
        answers = iree_tosa.results([trial.iree for trial in trials.values()])
        return trials, dict(zip(trials, answers, strict=True))
