"""What a check of a Torq executable found, as text, JSON, SARIF 2.1.0 and JUnit XML."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from assay.hal.torq.format import BufferType, Executable
from assay.hw.torq.check.finding import Finding
from assay.hw.torq.notes import Symbol

_SARIF = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_FIELDS = tuple(Finding.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True, slots=True)
class TorqFindings:
    """The findings of one executable of a file."""

    file: str
    name: str
    findings: tuple[Finding, ...]


def symbols(executable: Executable) -> list[Symbol]:
    """Names of memory that the executable itself gives: its bindings, its described buffers."""
    found = [
        Symbol(
            name=f"buffer {binding.number}",
            memory="XRAM",
            start=binding.address,
            stop=binding.address + binding.size,
        )
        for binding in executable.bindings
    ]
    found += [
        Symbol(
            name=f"buffer info {info.number}",
            memory=info.buffer_type.name,
            start=info.address,
            stop=info.address + info.size,
        )
        for info in executable.buffers
        if info.buffer_type in (BufferType.LRAM, BufferType.XRAM)
    ]
    return found


def text(report: TorqFindings) -> str:
    """A line per finding, and how many there are."""
    count = len(report.findings)
    total = f"{count} finding{'' if count == 1 else 's'}" if count else "nothing found"
    return "\n".join([*map(str, report.findings), f"{report.name}: {total}"]) + "\n"


def _json(report: TorqFindings) -> str:
    found = {
        "file": report.file,
        "executable": report.name,
        "findings": [
            {name: getattr(finding, name) for name in _FIELDS} for finding in report.findings
        ],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _sarif(report: TorqFindings) -> str:
    from .. import __version__

    kinds = sorted({finding.kind for finding in report.findings})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Assay",
                "version": __version__,
                "rules": [{"id": f"npu-{kind}"} for kind in kinds],
            }
        },
        "results": [_result(report, finding) for finding in report.findings],
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(report: TorqFindings, finding: Finding) -> dict[str, Any]:
    place = {
        "physicalLocation": {"artifactLocation": {"uri": report.file.replace("\\", "/")}},
        "logicalLocations": [{"fullyQualifiedName": _where(report, finding)}],
    }
    return {
        "ruleId": f"npu-{finding.kind}",
        "level": "error",
        "message": {"text": str(finding)},
        "locations": [place],
    }


def _where(report: TorqFindings, finding: Finding) -> str:
    parts = [report.name]
    parts += [f"task[{finding.task}]"] if finding.task >= 0 else []
    parts += [part for part in (finding.unit, finding.agent) if part]
    return ".".join(parts)


def _junit(report: TorqFindings) -> str:
    failures = str(len(report.findings))
    suite = ElementTree.Element(
        "testsuite", name="assay check", tests="1", failures="1" if report.findings else "0"
    )
    case = ElementTree.SubElement(suite, "testcase", classname=report.file, name=report.name)
    if report.findings:
        message = f"{failures} findings" if len(report.findings) > 1 else "1 finding"
        failure = ElementTree.SubElement(case, "failure", message=message)
        failure.text = "\n".join(map(str, report.findings))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


FORMATS: dict[str, Callable[[TorqFindings], str]] = {
    "text": text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
}
"""Writers by the name that `--format` has for them."""
