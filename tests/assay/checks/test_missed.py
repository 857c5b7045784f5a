"""What rests on assumptions is a warning, and what never ran is told."""

import assay
from assay.checks import Report, SourceOptions, check_source, chosen_checks
from assay.sim.check import Finding
from tests.checks.cases import FOLDER

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


def test_a_kernel_of_which_assumed_constants_leave_nothing_is_not_called_clean() -> None:
    source = """constant bool FORWARD [[function_constant(0)]];
kernel void copy(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    if (FORWARD) y[i] = x[i];
}
"""
    report = Report(chosen_checks("all"))
    check_source(source, "copy.metal", report, SourceOptions())
    assert report.kernels[0].missed == ("its code has no access of any of its buffers",)
    assert "of kernel 'copy' not all was checked" in str(report)


def test_a_kernel_that_reaches_its_buffers_by_tensors_alone_has_accesses_of_them() -> None:
    path = FOLDER / "shuffle" / "bugs" / "tensors.metal"
    report = Report(chosen_checks("all"))
    options = SourceOptions(functions=("too_few_simdgroups",))
    check_source(path.read_text(), path.name, report, options)
    assert report.kernels[0].missed == ()


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


OWN = """
kernel void counted(device float* x, constant uint& size, uint i [[thread_position_in_grid]]) {
    float work[8];
    for (uint k = 0; k < 8; k++) work[k] = x[i + k];
    for (uint k = 0; k < size; k++) x[i * size + k] = work[k];
}
//! [kernel.wrong]
//! threadgroup = 256
kernel void wrong(device float* x, constant uint& steps, uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_threadgroup]]) {
    threadgroup float tile[256];
    for (uint k = 0; k < steps; k++) {
        tile[lane] = x[i + k];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        x[i] += tile[lane + 1];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    }
}
"""


def beyond(name: str, text: str = OWN) -> Finding:
    report = Report(chosen_checks("bounds"))
    check_source(text, "own.metal", report, SourceOptions(functions=(name,)))
    (finding,) = report.findings
    return finding


def test_an_index_that_an_assumed_value_counts_too_far_is_a_warning() -> None:
    finding = beyond("counted")
    assert finding.severity == "warning" and "or state size in --args" in finding.hint
    stated = "//! [kernel.counted]\n//! arguments.size = 9\n"
    assert beyond("counted", stated + OWN).severity == "error"


def test_an_index_that_the_kernel_itself_gets_wrong_is_an_error_in_any_loop() -> None:
    finding = beyond("wrong")
    assert finding.severity == "error" and "state" not in finding.hint
