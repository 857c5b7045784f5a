"""What rests on assumptions is a warning, and what never ran is told."""

import assay
from assay.checks import Report, SourceOptions, check_source, chosen_checks

ROWS = """
struct args_t { int columns; int blocks; };
kernel void rows(constant args_t& args, device const float* x, device float* y,
                 uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (int b = 0; b < args.blocks / 32; ++b) sum += x[i * args.columns + b];
    y[i * args.columns / 1024] = sum + i;
}
//! [kernel.told]
//! threads = 64
//! threadgroup = 32
//! arguments.x = { shape = 64 }
kernel void told(device float* x, uint i [[thread_position_in_grid]]) { x[i / 64] = i; }
"""


def checked(*functions: str) -> Report:
    report = Report(chosen_checks("all"))
    check_source(ROWS, "rows.metal", report, SourceOptions(functions=functions))
    return report


def test_loops_and_buffers_that_never_ran_are_told() -> None:
    (kernel,) = checked("rows").kernels
    assert kernel.missed == (
        "never entered: the loop at rows.metal:6",
        "never touched: 'x'",
    )
    assert "of kernel 'rows' not all was checked" in str(checked("rows"))


def test_check_kernel_tells_what_never_ran_and_what_rests_on_assumptions() -> None:
    report = assay.check_kernel(ROWS, "rows", None, None, None)
    assert report.kernels[0].missed[1] == "never touched: 'x'"
    (finding,) = (each for each in report.findings if each.check == "race")
    assert finding.severity == "warning" and "or state args.columns" in finding.hint


def test_what_an_earlier_run_entered_does_not_count_for_a_later_one() -> None:
    missed = [
        assay.check_kernel(ROWS, "rows", {"columns": 64, "blocks": blocks}, None, None)
        .kernels[0]
        .missed
        for blocks in (64, 0)
    ]
    assert missed[0] == () and missed[1][0].startswith("never entered")


def test_a_race_over_assumed_strides_is_a_warning_that_names_them() -> None:
    (finding,) = (each for each in checked("rows").findings if each.check == "race")
    assert finding.severity == "warning"
    assert "or state args.columns in --args" in finding.hint


def test_a_race_that_rests_on_nothing_assumed_stays_an_error() -> None:
    findings = [each for each in checked("told").findings if each.check == "race"]
    assert [each.severity for each in findings] == ["error"]
