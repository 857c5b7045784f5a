"""Reports for other programs: plain JSON, and JUnit's XML."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from assay.sim.check import Finding

from .report import KernelRecord, Report
from .text import finding_text, memory_text, summary

FORMAT_VERSION = 1
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_json(report: Report) -> dict[str, Any]:
    """The report as plain data; `version` changes when a field changes its meaning."""
    findings, suppressed, unused = report.divided()
    return {
        "version": FORMAT_VERSION,
        "passed": report.passed,
        "unchecked": list(report.unchecked),
        "checks": list(report.checks),
        "seeds": list(report.seeds),
        "notes": list(report.notes),
        "uncompiled": [_finding(finding, report) for finding in report.uncompiled.values()],
        "kernels": [_kernel(kernel) for kernel in report.kernels],
        "findings": [_finding(finding, report) for finding in findings],
        "suppressed": [
            {"reason": by.reason, "origin": by.origin, **_finding(finding, report)}
            for finding, by in suppressed
        ],
        "unused_suppressions": [
            {"suppression": str(each), "origin": each.origin} for each in unused
        ],
        "dropped": report.dropped,
        "summary": summary(report, len(findings), len(suppressed)),
    }


def _kernel(kernel: KernelRecord) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "file": kernel.file,
        "line": kernel.line,
        "runs": list(kernel.runs),
        "assumptions": list(kernel.assumptions),
        "not_reached": list(kernel.missed),
        "problem": kernel.problem,
        "seconds": round(kernel.seconds, 3),
    }


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    return {
        **finding.to_json(),
        "place": memory_text(finding),
        "assumptions": list(report.assumptions_of(finding)),
    }


def report_junit(report: Report) -> str:
    """JUnit XML: a test case for each kernel, failed if it has findings of severity error.

    What kept programs from being checked are cases of their own, with errors.
    """
    by_kernel: dict[KernelRecord, list[Finding]] = {kernel: [] for kernel in report.kernels}
    for finding in report.findings:
        # Findings about host calls belong to no kernel.
        kernel = report.kernel_of(finding) or KernelRecord(name=finding.kernel)
        by_kernel.setdefault(kernel, []).append(finding)
    kernels = list(by_kernel)
    suite = ElementTree.Element("testsuite", name="assay check")
    for kernel in kernels:
        suite.append(_test_case(kernel, by_kernel[kernel], report))
    for number, obstacle in enumerate(report.obstacles, 1):
        name = {"classname": "assay check", "name": f"not checked {number}", "time": "0.000"}
        error = report.uncompiled.get(obstacle)
        if error is not None:
            place = {"file": _xml(error.site.file), "line": str(error.site.line)}
            name |= {"classname": place["file"], "name": "compiles", **place}
        _add_error(ElementTree.SubElement(suite, "testcase", name), obstacle)
    counts = {
        "tests": str(len(suite)),
        "failures": str(len(suite.findall("testcase/failure"))),
        "errors": str(len(suite.findall("testcase/error"))),
        "skipped": "0",
        "time": f"{sum(kernel.seconds for kernel in kernels):.3f}",
    }
    suite.attrib.update(counts)
    root = ElementTree.Element("testsuites", {"name": "assay check", **counts})
    root.append(suite)
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _test_case(
    kernel: KernelRecord, findings: list[Finding], report: Report
) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=_xml(kernel.file or "assay check"),
        name=_xml(kernel.name or "host calls"),
        time=f"{kernel.seconds:.3f}",
    )
    if kernel.file:
        case.attrib.update(file=_xml(kernel.file), line=str(kernel.line))
    if kernel.problem:
        _add_error(case, kernel.problem)
    failed = [finding for finding in findings if finding.severity == "error"]
    if failed:
        failure = ElementTree.SubElement(
            case, "failure", message=_xml(failed[0].message), type=failed[0].kind
        )
        failure.text = _xml("\n\n".join(finding_text(each, report) for each in failed))
    warnings = [finding for finding in findings if finding.severity != "error"]
    if warnings:
        out = ElementTree.SubElement(case, "system-out")
        out.text = _xml("\n\n".join(finding_text(each, report) for each in warnings))
    return case


def _add_error(case: ElementTree.Element, why: str) -> None:
    error = ElementTree.SubElement(case, "error", message="not checked", type="not-checked")
    error.text = _xml(why)


def _xml(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NOT_XML.sub("?", text)
