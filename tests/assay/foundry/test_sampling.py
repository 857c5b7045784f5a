"""Sampling chooses the tokens that its twin in NumPy chooses, by the shares that are asked for."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from assay.foundry import FoundryError, format_of
from assay.foundry.library import (
    GREEDY,
    Sampling,
    choose,
    dequantise,
    penalise,
    penalised,
    row_max,
    row_sum,
    sample,
)
from assay.foundry.types import bfloat, half

few = settings(max_examples=3, deadline=None, phases=[Phase.generate])
TYPES = {"float32": float, "float16": half}
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 1.0, 4.0]),
    top_k=st.sampled_from([0, 1, 5, 40, 10_000]),
    top_p=st.sampled_from([0.01, 0.5, 0.95, 1.0]),
    min_p=st.sampled_from([0.0, 0.05, 1.0]),
    seed=st.integers(0, 2**64 - 1),
)


@few
@given(
    samplings,
    st.integers(1, 3),
    st.integers(1, 1500),
    st.sampled_from([1.0, 0.01]),
    st.integers(0, 2**32 - 1),
)
def test_the_kernel_chooses_what_its_twin_chooses(
    sampling: Sampling, rows: int, columns: int, grain: float, step: int
) -> None:
    # Coarse logits have ties, at every cut.
    random = np.random.default_rng(step)
    logits = (np.round(random.normal(size=(rows, columns)) * 3 / grain) * grain).astype(np.float32)
    kernel = sample(sampling=sampling, step=step)
    assert np.array_equal(kernel(x=logits), choose(logits, sampling, step))
    assert not kernel.check(x=logits).findings


@pytest.mark.slow
def test_what_is_no_number_is_never_chosen() -> None:
    logits = np.full((1, 64), -np.inf, np.float16)
    logits[0, [3, 9]] = np.nan
    logits[0, [5, 60]] = 2
    for seed in range(4):
        sampling = Sampling(seed=seed)
        made = sample(half, sampling=sampling)(x=logits)
        assert made == choose(logits, sampling)
        assert made[0] in (5, 60)


def test_choices_have_the_shares_of_a_softmax() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.125, 0.125], np.float32))
    rows = np.repeat(logits[None], 4000, axis=0)
    counts = np.bincount(choose(rows, Sampling(seed=3)), minlength=4) / 4000
    assert np.abs(counts - [0.5, 0.25, 0.125, 0.125]).max() < 0.03
    half_of = Sampling(seed=3, top_p=0.75)
    counts = np.bincount(choose(rows, half_of), minlength=4) / 4000
    assert np.abs(counts - [2 / 3, 1 / 3, 0, 0]).max() < 0.03
    assert set(choose(rows, Sampling(seed=3, min_p=0.5)).tolist()) == {0, 1}
    assert set(choose(rows, Sampling(seed=3, top_k=3)).tolist()) == {0, 1, 2}
    assert set(choose(rows, GREEDY).tolist()) == {0}
    assert set(choose(rows, Sampling(seed=3, temperature=1e-4)).tolist()) == {0}


def test_each_step_and_row_has_its_own_number_and_a_seed_repeats_them() -> None:
    rows = np.zeros((3, 1000), np.float32)
    chosen = [choose(rows, Sampling(seed=7), step).tolist() for step in range(3)]
    assert len({each for row in chosen for each in row}) == 9
    assert choose(rows, Sampling(seed=7), 1).tolist() == chosen[1]


def test_tokens_that_stand_there_become_less_likely() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 50)).astype(np.float32)
    recent = random.integers(0, 50, (2, 30)).astype(np.uint32)
    recent[:, 5] = 0xFFFFFFFF
    options = {"repetition": 1.3, "presence": 0.5, "frequency": 0.25}
    kernel = penalise(**options)
    assert np.allclose(kernel(x=x, recent=recent), penalised(x, recent, **options), atol=1e-6)
    assert not kernel.check(x=x, recent=recent).findings


@pytest.mark.parametrize(
    "options",
    [{"temperature": -1}, {"temperature": float("nan")}, {"top_p": 0}, {"min_p": 2}, {"seed": -1}],
)
def test_numbers_without_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(FoundryError, match=r"temperature and top_k|top_p is in"):
        Sampling(**options)
    with pytest.raises(FoundryError, match="300000 logits; 1 to 262144"):
        choose(np.zeros((1, 300_000), np.float32), GREEDY)


@few
@given(st.integers(1, 4), st.integers(1, 1100), st.sampled_from([float, half, bfloat]))
def test_rows_are_summed_and_their_largest_found(rows: int, columns: int, element: Any) -> None:
    dtype = {float: np.float32, half: np.float16}.get(element, ml_dtypes.bfloat16)
    x = np.random.default_rng(columns).normal(size=(rows, columns)).astype(dtype)
    wide = x.astype(np.float64)
    assert np.array_equal(row_max(element)(x=x), x.astype(np.float32).max(axis=1))
    bound = (2**-8 if dtype is ml_dtypes.bfloat16 else 2**-10) * np.abs(wide).sum(axis=1).max()
    assert np.abs(row_sum(element)(x=x).astype(np.float64) - wide.sum(axis=1)).max() <= bound
    assert not row_max(element).check(x=x).findings
    assert not row_sum(element).check(x=x).findings


def test_weights_become_numbers() -> None:
    weights = format_of("q4_k")
    packed = weights.pack(np.random.default_rng(0).normal(size=(5, 512)).astype(np.float32))
    kernel = dequantise(weights, 5, 512)
    values = {"matrix": packed.matrix, "scales": packed.scales}
    assert np.array_equal(kernel(**values), weights.unpack(packed))
    assert not kernel.check(**values).findings
