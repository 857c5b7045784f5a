"""SARIF, JUnit and JSON: what other programs read."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from assay.checks import KINDS, KernelRecord, Report, report_json, report_junit, report_sarif
from assay.hw.torq.check.kinds import UNREAD
from assay.reports.suppressions import Suppression
from assay.sim.check import DEFAULT_CHECKS, OPTIONAL_CHECKS, Finding, Party
from assay.sim.site import Site

from .reports import RACE, example

# What the SARIF 2.1.0 schema demands of the objects that are written: required properties, and all
# that are allowed, by the name of the definition.
SARIF = {
    "sarifLog": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool", "results"}, {"columnKind", "invocations"}),
    "tool": ({"driver"}, set()),
    "toolComponent": ({"name"}, {"version", "semanticVersion", "rules"}),
    "reportingDescriptor": (
        {"id"},
        {"shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"},
    ),
    "multiformatMessageString": ({"text"}, {"markdown"}),
    "invocation": ({"executionSuccessful"}, {"toolExecutionNotifications"}),
    "notification": ({"message"}, {"level"}),
    "result": (
        {"message"},
        {
            "ruleId",
            "ruleIndex",
            "level",
            "locations",
            "relatedLocations",
            "partialFingerprints",
            "occurrenceCount",
            "suppressions",
        },
    ),
    "location": (set(), {"id", "physicalLocation", "message"}),
    "physicalLocation": (set(), {"artifactLocation", "region"}),
    "artifactLocation": (set(), {"uri"}),
    "region": (set(), {"startLine", "startColumn"}),
    "message": ({"text"}, set()),
    "suppression": ({"kind"}, {"justification"}),
}
MEMBERS = {
    "runs": "run",
    "tool": "tool",
    "driver": "toolComponent",
    "rules": "reportingDescriptor",
    "shortDescription": "multiformatMessageString",
    "help": "multiformatMessageString",
    "fullDescription": "multiformatMessageString",
    "invocations": "invocation",
    "toolExecutionNotifications": "notification",
    "results": "result",
    "message": "message",
    "locations": "location",
    "relatedLocations": "location",
    "region": "region",
    "physicalLocation": "physicalLocation",
    "artifactLocation": "artifactLocation",
    "suppressions": "suppression",
}


def require_sarif(value: Any, kind: str) -> None:
    """Fail where an object lacks what its definition demands, or has what it does not know."""
    required, allowed = SARIF[kind]
    assert required <= set(value) <= required | allowed, (kind, sorted(value))
    for name, member in value.items():
        if name in MEMBERS:
            for each in member if isinstance(member, list) else [member]:
                require_sarif(each, MEMBERS[name])


@pytest.fixture
def sarif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    log = report_sarif(example(Suppression(kind="race", reason="why not", origin="--suppress x")))
    parsed: dict[str, Any] = json.loads(json.dumps(log))
    return parsed


def test_sarif_has_the_structure_of_its_schema(sarif: dict[str, Any]) -> None:
    require_sarif(sarif, "sarifLog")
    assert sarif["version"] == "2.1.0"


def test_sarif_names_places_relative_to_the_working_directory(sarif: dict[str, Any]) -> None:
    warning, race = sarif["runs"][0]["results"]
    assert warning["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "k.metal"},
        "region": {"startLine": 4, "startColumn": 5},
    }
    assert race["relatedLocations"] == [
        {
            "id": 1,
            "message": {
                "text": "write of 4 bytes by thread (32, 0, 0), simdgroup 1, lane 0, threadgroup "
                "(1, 0, 0), after 2 barriers"
            },
            "physicalLocation": {
                "artifactLocation": {"uri": "k.metal"},
                "region": {"startLine": 2, "startColumn": 5},
            },
        }
    ]
    assert (race["level"], warning["level"]) == ("error", "warning")
    assert race["occurrenceCount"] == 7


def test_sarif_rules_are_those_of_the_results_with_help(sarif: dict[str, Any]) -> None:
    run = sarif["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) == 2
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["text"] == KINDS[rule["id"]].help


def test_sarif_carries_suppressed_findings_as_suppressed(sarif: dict[str, Any]) -> None:
    warning, race = sarif["runs"][0]["results"]
    assert race["suppressions"] == [{"kind": "external", "justification": "why not"}]
    assert "suppressions" not in warning


def test_a_kernel_that_was_not_checked_makes_the_run_unsuccessful(sarif: dict[str, Any]) -> None:
    [invocation] = sarif["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    [error, *notes] = invocation["toolExecutionNotifications"]
    assert error["level"] == "error"
    assert "'blur' was not checked: takes a texture" in error["message"]["text"]
    assert {each["level"] for each in notes} == {"note"}


def test_sarif_says_what_was_assumed(sarif: dict[str, Any]) -> None:
    [invocation] = sarif["runs"][0]["invocations"]
    texts = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert any(text.endswith(": assumed: x: 4096 x float, random") for text in texts)


def test_a_comment_in_the_source_is_a_suppression_in_source() -> None:
    report = Report(["race"])
    report.add(RACE)
    report.add_sources({"k.metal": "\n\nv; // assay-suppress: race why"})
    [result] = report_sarif(report)["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "why"}]


def fingerprint(source: str, line: int) -> str:
    report = Report(["bounds"])
    report.add_sources({"k.metal": source})
    party = Party(what="read", site=Site("k.metal", line, 1))
    report.add(Finding(check="bounds", kind="null-read", kernel="k", message="m", parties=(party,)))
    [result] = report_sarif(report)["runs"][0]["results"]
    text: str = result["partialFingerprints"]["assayFinding/v1"]
    return text


def test_fingerprints_stay_when_lines_are_added_above_and_differ_otherwise() -> None:
    assert fingerprint("a;\nb;", 2) == fingerprint("// new\na;\n  b;", 3)
    assert fingerprint("a;\nb;", 2) != fingerprint("a;\nb;", 1)


def test_junit_has_a_test_case_for_each_kernel() -> None:
    root = ElementTree.fromstring(report_junit(example()))
    assert root.tag == "testsuites"
    [suite] = root
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["3", "1", "1"]
    reduce, copy, blur = suite
    assert (reduce.get("name"), reduce.get("classname")) == ("reduce", "k.metal")
    failure = reduce.find("failure")
    assert failure is not None and failure.get("type") == "race-read-write"
    assert failure.text is not None and "k.metal:2:5: note: write of 4 bytes" in failure.text
    assert copy.find("failure") is None and copy.find("system-out") is not None
    error = blur.find("error")
    assert error is not None and error.text == "takes a texture"


def test_junit_has_host_calls_too_and_leaves_out_what_xml_cannot_hold() -> None:
    report = Report(["bounds"])
    report.add(Finding(check="bounds", kind="read-only-write", kernel="", message="bad \x00 <&>"))
    root = ElementTree.fromstring(report_junit(report))
    [case] = root.iter("testcase")
    failure = case.find("failure")
    assert case.get("name") == "host calls"
    assert failure is not None and failure.get("message") == "bad ? <&>"


def test_json_has_everything() -> None:
    data = json.loads(json.dumps(report_json(example(Suppression(kind="bounds", reason="so")))))
    assert data["version"] == 1 and data["passed"] is False
    assert [kernel["name"] for kernel in data["kernels"]] == ["reduce", "copy", "blur"]
    [race] = data["findings"]
    assert race["parties"][1]["thread"] == [32, 0, 0]
    assert race["place"] == "s, byte 128 (element 32 of 4 bytes)"
    [accepted] = data["suppressed"]
    assert (accepted["kind"], accepted["reason"]) == ("out-of-bounds-read", "so")
    assert accepted["assumptions"] == ["x: 4096 x float, random"]


def test_every_kind_belongs_to_a_check_and_says_what_helps() -> None:
    for name, kind in KINDS.items():
        assert kind.check in (*DEFAULT_CHECKS, *OPTIONAL_CHECKS, UNREAD), name
        assert kind.title and kind.help.endswith("."), name


def test_a_report_of_nothing_is_not_clean_and_one_that_looked_for_nothing_neither() -> None:
    assert Report(["bounds"]).unchecked == ("no kernel was dispatched: nothing was checked",)
    report = Report([])
    report.add_kernel(KernelRecord(name="k"))
    assert report.unchecked == ("nothing was looked for",)
    assert not report.passed
    report = Report(["bounds"])
    report.add_kernel(KernelRecord(name="k"))
    assert report.passed
