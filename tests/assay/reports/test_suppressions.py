"""Which findings a suppression accepts."""

import pytest

from assay.checks import CheckInputError, parse_suppression
from assay.reports.suppressions import Suppression, divide, suppressions_in
from assay.sim.check import Finding, Party
from assay.sim.site import Site


def finding(line: int = 12, **facts: object) -> Finding:
    known: dict[str, object] = {
        "check": "race",
        "kind": "race-read-write",
        "kernel": "reduce",
        "message": "a race",
        "parties": (
            Party(what="read", site=Site("src/k.metal", line, 5)),
            Party(what="write", site=Site("src/h.h", 3, 1, "", (Site("src/k.metal", 20, 9),))),
        ),
    }
    return Finding(**{**known, **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "race-read-write",
        "race",
        "race-*",
        "*",
        "race-read-write:reduce",
        "race:red*",
        "race::k.metal",
        "race:reduce:src/k.metal",
        "race:reduce:k.metal:12",
        "race::h.h:3",
        "race:::20",
        "race:reduce:*.metal",
    ],
)
def test_a_suppression_accepts_what_it_names(text: str) -> None:
    assert parse_suppression(text).accepts(finding())


@pytest.mark.parametrize(
    "text",
    [
        "race-write-write",
        "init",
        "race:scan",
        "race::other.metal",
        "race::c/k.metal",
        "race:reduce:k.metal:13",
        "race::h.h:12",
        "race-read",
    ],
)
def test_a_suppression_leaves_others_alone(text: str) -> None:
    assert not parse_suppression(text).accepts(finding())


@pytest.mark.parametrize("text", ["", ":k", "race:k:f:x", "race:k:f:1:2"])
def test_what_is_no_suppression_is_refused(text: str) -> None:
    with pytest.raises(CheckInputError, match="expected KIND"):
        parse_suppression(text)


def test_comments_suppress_on_their_line_or_on_the_next_with_code() -> None:
    text = (
        "a(); // assay-suppress: race-read-write one thread wins\n"
        "// assay-suppress: init zeroed by the host\n"
        "// (see the loader)\n"
        "\n"
        "b();\n"
    )
    first, second = suppressions_in({"k.metal": text})
    assert (first.kind, first.file, first.line) == ("race-read-write", "k.metal", 1)
    assert first.reason == "one thread wins" and first.origin == "k.metal:1"
    assert (second.kind, second.line, second.origin) == ("init", 5, "k.metal:2")


@pytest.mark.parametrize("comment", ["// assay-suppress:", "// assay-suppress: race"])
def test_a_comment_must_say_what_and_why(comment: str) -> None:
    with pytest.raises(CheckInputError, match=r"k\.metal:2: expected // assay-suppress: KIND"):
        suppressions_in({"k.metal": f"\n{comment}\n"})


def test_findings_are_divided_and_unused_suppressions_are_told() -> None:
    used, unused = Suppression(kind="race", kernel="reduce"), Suppression(kind="init")
    other = finding(kernel="scan")
    standing, suppressed, left = divide([finding(), other], [unused, used])
    assert standing == [other]
    assert suppressed == [(finding(), used)]
    assert left == [unused]


def test_every_suppression_that_accepts_counts_as_used() -> None:
    one, two = Suppression(kind="race"), Suppression(kind="race-read-write")
    assert divide([finding()], [one, two])[2] == []
