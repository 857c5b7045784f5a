"""Reports: what counts as what, and how they read."""

from dataclasses import replace

import pytest

from assay.checks import CheckFindings, CheckInputError, KernelRecord, Report
from assay.reports.suppressions import Suppression
from assay.reports.text import report_text

from .reports import OUTSIDE, RACE, example

EXPECTED = """\
k.metal:3:12: error: a read and a write of threadgroup array 's' with no barrier between them \
[race-read-write]
    3 | \tfloat v = s[lid + 1];
      | \t          ^
  read of 4 bytes by thread (31, 0, 0), simdgroup 0, lane 31, threadgroup (1, 0, 0), after 2 \
barriers
    called from reduce at k.metal:4:5
k.metal:2:5: note: write of 4 bytes by thread (32, 0, 0), simdgroup 1, lane 0, threadgroup (1, 0, \
0), after 2 barriers
    2 |     s[lid] = x[gid];
      |     ^
  memory: s, byte 128 (element 32 of 4 bytes)
  kernel: reduce, 7 times
  hint: put a threadgroup_barrier between the two

k.metal:4:5: warning: out-of-bounds read of 4 bytes at byte 16384 of x, which has 16384 bytes \
[out-of-bounds-read]
    4 |     y[gid] = v;
      |     ^
  read of 4 bytes
  memory: x, byte 16384 (element 4096 of 4 bytes)
  kernel: copy
  assumed: x: 4096 x float, random

k.metal:5: kernel 'blur' was not checked: takes a texture

2 kernels, 2 findings, 1 kernel not checked (looked for: race, bounds)"""


def test_the_text_has_both_places_with_their_lines_and_all_that_is_known() -> None:
    assert str(example()) == EXPECTED


def test_an_access_beyond_a_size_that_was_only_assumed_is_a_warning() -> None:
    report = example()
    assert [finding.severity for finding in report.findings] == ["error", "warning"]
    assert [finding.kind for finding in report.errors] == ["race-read-write"]
    assert report.problems == (report.kernels[2],)


def test_findings_of_several_runs_are_one_with_a_count() -> None:
    report = Report(["race"])
    for seed in (None, 1):
        report.new_checker(seed).report(RACE)
    [finding] = report.findings
    assert finding.count == 14


def test_a_race_is_one_finding_whichever_side_came_first() -> None:
    report = Report(["race"])
    report.add(RACE)
    report.add(replace(RACE, parties=RACE.parties[::-1]))
    [finding] = report.findings
    assert finding.count == 14


def test_a_run_that_is_discarded_leaves_nothing() -> None:
    report = Report(["race"])
    checker = report.new_checker()
    checker.report(RACE)
    report.discard(checker)
    assert not report and report.findings == ()


def test_suppressed_findings_are_counted_and_unused_suppressions_noted() -> None:
    report = example(
        Suppression(kind="race", origin="--suppress race"),
        Suppression(kind="init", kernel="scan", origin="args.toml:3"),
    )
    text = str(report)
    assert "[race-read-write]" not in text
    assert "note: args.toml:3: nothing to suppress for 'init:scan'" in text
    assert "2 kernels, 1 finding, 1 suppressed, 1 kernel not checked" in text


def test_a_comment_in_the_source_suppresses() -> None:
    report = Report(["race"])
    report.add(RACE)
    source = "\n\nfloat v = s[lid + 1]; // assay-suppress: race-read-write lock step\n"
    report.add_sources({"k.metal": source})
    assert report.findings == () and not report
    report.raise_if_any()


def test_a_bad_comment_is_said_when_findings_are_asked_for() -> None:
    report = Report(["race"])
    report.add_sources({"k.metal": "// assay-suppress: race\n"})
    with pytest.raises(CheckInputError, match=r"k\.metal:1"):
        _ = report.findings


def test_raise_if_any_has_the_report_as_its_text() -> None:
    with pytest.raises(CheckFindings) as caught:
        example().raise_if_any()
    assert str(caught.value) == EXPECTED


def test_the_same_finding_in_other_kernels_is_written_out_once() -> None:
    report = example()
    for number in range(6):
        report.add(replace(RACE, kernel=f"reduce_{number}"))
    text = str(report)
    assert text.count("[race-read-write]") == 1
    assert "  the same in: reduce_0, reduce_1, reduce_2, reduce_3 and 2 more\n" in text
    assert "2 kernels, 8 findings" in text


def test_only_so_many_findings_are_written_out() -> None:
    text = report_text(example(), shown=1)
    assert "[race-read-write]" in text and "[out-of-bounds-read]" not in text
    assert "... and 1 further finding" in text


def test_without_findings_the_summary_claims_no_more_than_was_run() -> None:
    report = Report(["race", "init"], seeds=[1, 2])
    report.add_kernel(KernelRecord(name="add"))
    assert str(report) == (
        "1 kernel, no findings (looked for: race, init, seeds 1, 2)\n"
        "Checked were these runs; other inputs and grids may behave differently."
    )


def test_runs_of_one_kernel_are_gathered_and_files_kept_apart() -> None:
    report = Report(["bounds"])
    report.add_kernel(KernelRecord(name="k", file="a.metal", runs=("64 threads",), seconds=1))
    report.add_kernel(KernelRecord(name="k", file="a.metal", runs=("32 threads",), seconds=1))
    report.add_kernel(KernelRecord(name="copy", file="k.metal", assumptions=("n = 3",)))
    report.add_kernel(KernelRecord(name="copy", file="b.metal"))
    first = report.kernels[0]
    assert (first.file, first.runs) == ("a.metal", ("64 threads", "32 threads"))
    assert first.seconds == 2
    assert report.assumptions_of(OUTSIDE) == ("n = 3",)


def test_a_program_without_dispatches_is_not_called_clean() -> None:
    text = report_text(Report())
    assert text.endswith("No kernel was dispatched: nothing was checked.")


def test_kernels_and_findings_stand_in_one_order_however_they_finished() -> None:
    names = ["first", "second", "third"]
    parts = {}
    for name in names:
        part = Report()
        part.add_kernel(KernelRecord(name=name, file="k.metal", line=1))
        part.add(replace(OUTSIDE, kernel=name, message=f"of {name}"))
        parts[name] = part.part()
    texts = set()
    for finished in (names, names[::-1], ["second", "third", "first"]):
        report = Report()
        for name in finished:
            report.absorb(parts[name])
        report.sort_kernels(names)
        assert [each.kernel for each in report.findings] == names
        texts.add(str(report))
    assert len(texts) == 1


def test_a_line_that_is_shown_commands_no_terminal() -> None:
    report = Report(["race"])
    report.add_sources({"k.metal": "\n\ts[lid] = x[gid]; // \x1b[31m\n\n"})
    report.add_kernel(KernelRecord(name="reduce", file="k.metal", line=1, runs=("1 thread",)))
    report.add(RACE)
    assert "\ts[lid] = x[gid]; // \ufffd[31m" in report_text(report)
