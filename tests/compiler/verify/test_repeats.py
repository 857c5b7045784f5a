"""Answers do not depend on what was proved before in the same process."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from assay.compiler.verify import PROPERTIES, Answer, Effort
from assay.compiler.verify.native.building import integer

from .judge import answers, program_of
from .random_kernels import RandomKernel, drawn
from .sharp_kernels import sharp
from .wide_kernels import wide


@pytest.mark.parametrize(
    "generator", [*(pytest.param(each, marks=pytest.mark.slow) for each in (drawn, wide)), sharp]
)
def test_a_kernel_has_the_same_answers_after_others(
    generator: Callable[[int], RandomKernel],
) -> None:
    def asked(seeds: range) -> dict[int, dict[str, Answer]]:
        return {seed: _answers(generator(seed), seed) for seed in seeds}

    forwards = asked(range(300, 303))
    outside = [integer(f"outside {each}") * 3 for each in range(500)]
    gc.collect()
    backwards = asked(range(302, 299, -1))
    assert forwards == backwards
    assert len(outside) == 500


def _answers(kernel: RandomKernel, seed: int) -> dict[str, Answer]:
    return answers(
        program_of(kernel, str(seed)), kernel, PROPERTIES, Effort(examples=2, seconds=0.5)
    )
