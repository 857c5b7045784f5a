"""The table of published rows, its results and the page that shows them belong together."""

from collections import Counter
from dataclasses import replace

import pytest

from assay.hw.apple.core.kind import KINDS
from benchmarks.validation.accuracy import GROUPS, accuracy_text, errors_of
from benchmarks.validation.cases import Case, Status, chip_key
from benchmarks.validation.harness import chosen, predict, read_json
from benchmarks.validation.main import ACCURACY, PAGE, PICTURE, PREDICTED
from benchmarks.validation.page import page
from benchmarks.validation.plot import plot
from benchmarks.validation.published import Row, published
from benchmarks.validation.ranking import losses, rankings, repeated, spearman
from benchmarks.validation.summary import Prediction, summarise
from benchmarks.validation.table import cases


def _row(**changed: object) -> Row:
    given: dict[str, object] = {
        "ident": 1,
        "chip": "M1",
        "workload": "w",
        "metric": "gflops",
        "value": 2.0,
        "unit": "u",
        "source": "s",
        "confidence": "high",
        "kind": "measured",
        "note": "",
    }
    return Row(**(given | changed))  # type: ignore[arg-type]


def _prediction(
    value: float, published: float, *, ident: int = 1, workload: str = "w"
) -> Prediction:
    case = Case(
        row=_row(value=published, ident=ident, workload=workload),
        chip="m1",
        group="gemm",
        status=Status.COUNTED,
        predict=lambda machine: value,
    )
    return Prediction(case=case, value=value)


def test_every_published_row_has_a_case_or_a_reason() -> None:
    found = cases()

    assert [case.row for case in found] == list(published())
    assert all(case.why for case in found if case.predict is None)
    assert all(case.why for case in found if case.status is Status.SHOWN)
    assert not any(case.why for case in found if case.status is Status.COUNTED)


def test_most_rows_are_predicted_and_most_of_those_count() -> None:
    statuses = Counter(case.status for case in cases() if case.predict is not None)

    assert sum(statuses.values()) > 0.8 * len(cases())
    assert statuses[Status.COUNTED] > sum(statuses.values()) / 2


def test_few_rows_of_whole_kernels_are_fitted_to() -> None:
    whole = {"gemm", "llm", "reductions", "attention", "fft"}
    fitted = {
        case.row.ident
        for case in cases()
        if case.group in whole and case.status is Status.FITTED and case.predict is not None
    }

    # What M2 Ultra sustains, and the interval of M5 Max's matrix instruction.
    assert fitted == {941, 943, 1218}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("M1 Max (24c)", "m1-max-24"),
        ("M1 Max (32c)", "m1-max"),
        ("M2 Pro (cores: 4E+6P+16GPU) mlx 0.12.2 torch 2.1.2", "m2-pro-16"),
        ("M4 (Apple9 design)", "m4"),
        ("A11-A13", None),
        ("any", None),
    ],
)
def test_chips_are_recognised_by_what_sources_call_them(text: str, key: str | None) -> None:
    assert chip_key(text) == key


def test_errors_are_relative_and_summarised_by_group() -> None:
    (summary,) = summarise([_prediction(2.2, 2.0), _prediction(1.0, 2.0), _prediction(2.0, 2.0)])

    assert summary.median == pytest.approx(0.1)
    assert summary.p90 == pytest.approx(0.42)
    assert summary.passed


def test_the_order_of_products_is_compared_by_rank() -> None:
    same = [_prediction(n**2, n, ident=n) for n in range(1, 10)]
    reversed_ = [_prediction(-n, n, ident=n) for n in range(1, 10)]

    assert rankings(same)[0].correlation == pytest.approx(1)
    assert rankings(reversed_)[0].correlation == pytest.approx(-1)


def test_the_page_says_in_words_which_bars_are_missed() -> None:
    held, missed = page([_prediction(2.0, 2.0)]), page([_prediction(3.0, 2.0)])

    assert "All bars hold." in held
    assert "* gemm: the median error is 50.0%" in missed


def test_equal_values_share_a_rank() -> None:
    assert spearman([1, 2, 2, 3], [1, 5, 5, 9]) == pytest.approx(1)
    assert spearman([1, 2, 3], [1, 1, 1 + 1e-9]) == pytest.approx(0.866, abs=1e-3)


def test_what_costs_the_order_is_told_by_replacing_rows() -> None:
    hidden = [_prediction(10 - n, n, ident=n, workload=f"GEMM MPS FP32 {n}^3") for n in range(1, 6)]
    known = [_prediction(n, n, ident=n, workload=f"GEMM MFA FP32 {n}^3") for n in range(11, 20)]

    found = {loss.what: loss.correlation for loss in losses(hidden + known)}

    assert found["as predicted"] < 1
    assert found["if MPS, MPP and torch were right"] == pytest.approx(1)
    assert found["without MPS, MPP and torch"] == pytest.approx(1)
    noise = [found[f"a perfect model, if measurements repeat to {n}%"] for n in (2, 5, 10)]
    assert 1 > noise[0] > noise[1] > noise[2] > 0.8


def test_rows_that_state_a_product_twice_tell_how_well_measurements_repeat() -> None:
    twice = [_prediction(1, 100, ident=1), _prediction(1, 105, ident=2)]
    assert repeated(twice) == pytest.approx([0.05])


def test_the_page_and_its_picture_show_the_results_that_are_kept() -> None:
    kept = read_json(PREDICTED)

    again = "run `python -m benchmarks validation --page`"
    assert PAGE.read_text("utf-8") == page(kept), again
    assert PICTURE.read_text("utf-8") == plot(kept), again
    assert ACCURACY.read_text("utf-8") == accuracy_text(kept), again


def test_the_model_s_error_is_that_of_rows_that_count() -> None:
    [fitted] = [_prediction(2.0, 2.0)]
    row = replace(fitted, case=replace(fitted.case, status=Status.FITTED))

    assert errors_of([row, _prediction(2.5, 2.0)], "matrix") == [0.25]
    assert set(GROUPS) == set(KINDS)


def test_kept_results_are_there_for_all_rows_that_are_predicted() -> None:
    missing = [
        p.case.row.ident
        for p in read_json(PREDICTED)
        if p.case.predict is not None and p.value is None
    ]

    assert not missing, f"no result is kept of rows {missing[:20]}"


# Instructions, threadgroup memory, a stream, a product, a language model's step.
_QUICK = {9: 0.1, 137: 0.1, 243: 0.15, 1154: 0.3, 1236: 0.2, 1300: 0.3, 552: 0.3}


def test_a_quick_subset_stays_within_loose_bounds() -> None:
    predictions = predict(chosen(rows=sorted(_QUICK), quick=False), lambda text: None)

    assert [p.case.row.ident for p in predictions] == sorted(_QUICK)
    for p in predictions:
        assert not p.problem, (p.case.row.workload, p.problem)
        assert p.error is not None
        assert abs(p.error) <= _QUICK[p.case.row.ident], (p.case.row.workload, p.value)
