"""Repairs as text and as data: what is said to be proved is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.compiler.verify.answers import Answer, Verdict
from assay.proofs import KernelProof
from assay.proofs.cost import Cost
from assay.repairs import Repair
from assay.repairs.outcome import left_open, newly_proved
from assay.repairs.text import Mended, diff_of, line_end_of

RACES = "no two threads of a threadgroup race for its memory"
COST = "+10 cycles on m1 (+10.0%), predicted"
BUFFERS = "no two threads of the grid race for a buffer"


def told(*undecided: str) -> Mended:
    repair = Repair(
        kernel="k",
        what=("insert a barrier",),
        source="b\n",
        tried=1,
        proved=("threadgroup races",),
        undecided=undecided,
    )
    return Mended("k", repair, Cost("m1", 100.0, 110.0))


def test_a_kernel_of_which_all_is_proved_is_said_to_be() -> None:
    text = told().text("a\n", "k.metal")
    assert text.startswith(f"kernel 'k' would be proved with: insert a barrier; {COST}\n\n---")


def test_of_a_kernel_that_is_proved_in_part_the_parts_are_named() -> None:
    text = told("buffer races").text("a\n", "k.metal")
    assert text.startswith(
        f"kernel 'k' would be proved in part with: insert a barrier; {COST}\n"
        f"  would be proved: {RACES}\n"
        f"  stays undecided: {BUFFERS}\n\n---"
    )


def test_rings_that_stay_open_are_named() -> None:
    assert "  stays undecided: what is asked of rings" in told("rings").text("a\n", "k.metal")


def test_data_names_what_is_proved_and_what_is_not() -> None:
    data = told("buffer races").to_json("a\n", "k.metal")
    assert (data["proved"], data["undecided"]) == (["threadgroup races"], ["buffer races"])


def test_a_property_is_proved_once_all_setups_are() -> None:
    def proofs(*verdicts: Verdict) -> list[KernelProof]:
        answers = [Answer(about="bounds", verdict=each) for each in verdicts]
        return [KernelProof(name="k", file="", line=1, answers=(each,)) for each in answers]

    refuted = proofs("proved", "refuted")
    assert newly_proved(refuted, proofs("proved", "proved")) == ("bounds",)
    assert newly_proved(refuted, proofs("undecided", "proved")) == ()
    assert newly_proved(proofs("proved"), proofs("proved")) == ()
    assert left_open(proofs("proved", "proved")) == ()
    assert left_open(proofs("undecided", "proved")) == ("bounds",)


def test_a_diff_has_the_line_ends_of_its_file() -> None:
    repair = told().repair
    assert repair is not None
    assert diff_of(repair, "a\n", "k.metal", "\r\n").endswith("@@\n-a\r\n+b\r\n")


def test_a_diff_of_a_file_without_a_last_line_end_says_so() -> None:
    repair = told().repair
    assert repair is not None
    assert "-a\n\\ No newline at end of file\n+b\n" in diff_of(repair, "a", "k.metal")


def test_the_line_ends_of_a_file_are_those_of_all_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "k.metal"
    for text, end in ((b"a\r\nb\r\n", "\r\n"), (b"a\r\nb\n", "\n"), (b"a", "\n")):
        file.write_bytes(text)
        assert line_end_of(file) == end


def test_a_cost_that_is_not_known_is_said_to_be() -> None:
    text = replace(told(), cost="it leaves x").text("a\n", "k.metal")
    assert text.startswith(
        "kernel 'k' would be proved with: insert a barrier; its cost is not known"
    )
