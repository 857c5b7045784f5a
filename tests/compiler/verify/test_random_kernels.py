"""Random kernels: what all pairs of threads of some launches do contradicts no proof.

`python -m tests.campaigns random-proofs` draws 100,000.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.compiler.verify import Answer
from assay.sim.simt.ir.faults import UnsupportedKernel

from . import soak
from .judge import (
    QUICK,
    contradictions,
    found_in_launches,
    out_of_order,
    program_of,
    wrongly_proved,
)
from .random_kernels import RandomKernel, Sizes, Tree, drawn
from .schedules import PROVED, depends_on_schedule
from .soak import GENERATORS, noted, run, summary
from .unsound import UNSOUND, unsound
from .wide_kernels import wide

SMALL = {
    "wide": range(6),
    "drawn": range(3),
    "written": range(2),
    "sharp": range(4),
    "ragged": range(2),
    "strict": range(4),
    "handed": range(4),
    "chosen": range(6),
}
MANY = {
    "wide": range(150),
    "drawn": range(100),
    "written": range(100),
    "sharp": range(150),
    "ragged": range(100),
    "strict": range(100),
    "handed": range(100),
    "chosen": range(100),
}
CAUGHT = {
    "barriers order all memory, whatever their flags": ("written", 0),
    "simdgroups keep lock step with each other": ("written", 0),
    "variables of loops stay what they are": ("written", 0),
    "an instruction does not meet itself": ("written", 1),
    "stores write the same value": ("written", 1),
    "atomics meet nothing": ("wide", 9),
    "all threads come to a write": ("wide", 10),
    "branches are taken the other way": ("wide", 16),
    "threadgroups do not meet": ("wide", 32),
    "iterations of a loop are one": ("drawn", 15),
    "what lanes agree on, threads do": ("wide", 107),
    "columns are less than rows are long": ("wide", 258),
    "accesses are of no bytes, in bounds": ("wide", 302),
    "nothing wraps": ("sharp", 58),
    "lanes find the same across": ("sharp", 253),
    "accesses are of one byte, in races": ("wide", 122),
    "lanes keep lock step in any model": ("strict", 13),
    "barriers before others end what is behind these": ("handed", 0),
    "barriers before a beginning are behind it": ("handed", 0),
    "distinct numbers are read by one thread each": ("chosen", 16),
    "loops of all threads begin with the same": ("handed", 3),
}
"""Provers that are wrong on purpose, and the first kernel by which that is seen."""
SOME = ("atomics meet nothing", "simdgroups keep lock step with each other")


def _contradicted(generator: str, seeds: range) -> list[str]:
    draw = GENERATORS[generator]
    return [
        line for seed in seeds for line in contradictions(draw(seed), f"{generator} {seed}", seed)
    ]


def _found(*body: Tree, threads: int = 64) -> set[str]:
    kernel = RandomKernel(body, threads, words=64)
    return {each.fault.about for each in found_in_launches(kernel, 0)}


@pytest.mark.parametrize("generator", SMALL)
def test_no_launch_contradicts_a_proof(generator: str) -> None:
    assert _contradicted(generator, SMALL[generator]) == []


@pytest.mark.slow
@pytest.mark.parametrize("generator", MANY)
def test_no_launch_of_many_kernels_contradicts_a_proof(generator: str) -> None:
    assert _contradicted(generator, MANY[generator]) == []


def test_neighbours_that_overlap_are_not_taken_to_write_the_same() -> None:
    # Lanes store the same 64-bit constant at each 32-bit element.
    assert contradictions(drawn(1414), "drawn 1414", 0) == []


def test_a_store_that_changes_nothing_is_a_store() -> None:
    # Lanes of all simdgroups put back what they loaded; LLVM leaves such a store out.
    assert contradictions(drawn(261), "drawn 261", 0, optimised=True) == []


def test_what_a_merge_gives_is_known_only_of_threads_that_come_there() -> None:
    # A later merge chooses it for one thread; all others have another value.
    assert contradictions(drawn(8116), "drawn 8116", 8116) == []


def test_a_chosen_number_with_its_highest_bit_is_not_taken_not_to_wrap() -> None:
    # 4294967295 as an index: LLVM makes it of a bit, by its sign.
    assert contradictions(drawn(7022), "drawn 7022", 7022) == []


def test_a_check_of_a_range_that_llvm_made_may_wrap() -> None:
    # `31 < 2 + t` becomes `t - 30` compared: who takes that not to wrap leaves out half of them.
    assert contradictions(wide(29140), "wide 29140", 29140) == []


def test_an_access_to_one_of_two_arrays_is_not_proved_to_stay_within_it() -> None:
    # LLVM merges the loads of two branches.
    assert contradictions(drawn(11085), "drawn 11085", 11085, optimised=True) == []


def test_a_barrier_that_orders_one_of_two_memories_orders_that_one() -> None:
    # Threads exchange nothing through the other one, though they read and write there.
    kernel = wide(4009580)
    program = program_of(kernel, "wide 4009580")
    assert not depends_on_schedule(program, kernel, Sizes(192, 2), range(4009580, 4009583))


# -- what launches show ---------------------------------------------------------------------------

_MINE = ("put", 1, 0, 4, ("t",), ("t",), "i32")
_OTHERS = ("get", 3, 0, 0, 4, ("bin", "xor", ("t",), ("const", 32)), "i32")


def test_a_kernel_whose_threads_keep_to_themselves_has_no_faults() -> None:
    assert _found(_MINE, ("get", 2, 0, 0, 4, ("t",), "i32")) == set()


def test_a_read_of_what_another_simdgroup_writes_is_a_race() -> None:
    assert _found(_MINE, _OTHERS) == {"threadgroup races"}
    assert _found(_MINE, ("barrier", 2, 2), _OTHERS) == set()


def test_a_barrier_with_another_flag_does_not_order_threadgroup_memory() -> None:
    assert _found(_MINE, ("barrier", 2, 1), _OTHERS) == {"threadgroup races"}


def test_lanes_that_write_different_numbers_at_once_race() -> None:
    assert _found(("put", 1, 0, 4, ("sg",), ("t",), "i32")) == {"threadgroup races"}
    assert _found(("put", 1, 0, 4, ("sg",), ("const", 7), "i32")) == set()


def test_halves_of_neighbours_that_overlap_race() -> None:
    wide = ("put", 1, 0, 4, ("t",), ("t",), "i64")
    assert _found(wide) == {"threadgroup races", "bounds"}


def test_atomics_race_with_plain_accesses_alone() -> None:
    add = ("atomic", 1, "add", 0, "out0", ("const", 3), ("t",))
    assert _found(add) == set()
    plain = ("get", 2, 0, "out0", 4, ("const", 3), "i32")
    assert _found(add, plain) == {"buffer races"}


def test_threadgroups_that_write_the_same_elements_race() -> None:
    assert _found(("put", 1, "out0", 4, ("t",), ("px",), "i32")) == {"buffer races"}
    assert _found(("put", 1, "out0", 4, ("px",), ("px",), "i32")) == set()


def test_a_barrier_that_some_threads_come_to_is_divergent() -> None:
    some = ("compare", "ult", ("t",), ("const", 40))
    assert _found(("if", some, (("barrier", 1, 2),), ())) == {"barriers"}


def test_what_nobody_wrote_is_seen_to_be_read() -> None:
    first = ("if", ("compare", "ult", ("t",), ("const", 20)), (_MINE,), ())
    found = _found(first, ("barrier", 2, 2), ("get", 3, 0, 0, 4, ("t",), "i32"))
    assert found == {"initialised"}


def _strict(*body: Tree) -> set[str]:
    kernel = RandomKernel(body, 64, words=64, is_strict=True)
    return {each.fault.about for each in found_in_launches(kernel, 0)}


_NEXT = ("get", 3, 0, 0, 4, ("bin", "xor", ("t",), ("const", 1)), "i32")


def test_without_lock_step_lanes_race_but_for_barriers_of_their_simdgroup() -> None:
    assert _found(_MINE, _NEXT) == set()
    assert _strict(_MINE, _NEXT) == {"threadgroup races"}
    assert _strict(_MINE, ("simdgroup_barrier", 2), _NEXT) == set()
    assert _strict(_MINE, ("simdgroup_barrier", 1), _NEXT) == {"threadgroup races"}
    assert _strict(_MINE, ("barrier", 2, 2), _NEXT) == set()
    assert _strict(_MINE, ("simdgroup_barrier", 2), _OTHERS) == {"threadgroup races"}


def test_without_lock_step_some_lanes_at_a_barrier_of_their_simdgroup_are_divergent() -> None:
    some = ("compare", "ult", ("t",), ("const", 40))
    guarded = ("if", some, (("simdgroup_barrier", 2),), ())
    assert _strict(guarded) == {"barriers"}
    assert _found(guarded) == set()


_OUT = ("put", 4, "out0", 4, ("t",), ("var", 0), "i32")


@pytest.mark.parametrize(("between", "differs"), [((), True), ((("barrier", 2, 2),), False)])
def test_a_race_shows_in_some_order_of_simdgroups(
    between: tuple[Tree, ...], *, differs: bool
) -> None:
    kernel = RandomKernel((_MINE, *between, _OTHERS, _OUT), 64, words=64)
    program = program_of(kernel, "exchange")
    assert depends_on_schedule(program, kernel, Sizes(1, 1), range(8)) == differs


def test_a_proof_that_orders_make_no_difference_is_contradicted_by_a_race() -> None:
    kernel = RandomKernel((_MINE, _OTHERS, _OUT), 64, words=64)
    program = program_of(kernel, "exchange")
    proved = {about: Answer(about=about, verdict="proved") for about in PROVED}
    assert out_of_order(program, kernel, 0, proved)
    refuted = {**proved, "threadgroup races": Answer(about="", verdict="refuted")}
    assert not out_of_order(program, kernel, 0, refuted)


def test_a_loop_that_fills_a_buffer_stays_a_loop() -> None:
    # As from compilers of Metal, whose functions forbid calls that the source does not have.
    stores = ("put", 2, "out0", 4, ("loop", "l1"), ("const", 0), "i32")
    fill = ("for", 1, "l1", ("const", 0), "ult", ("m",), 1, (stores,))
    assert program_of(RandomKernel((fill,), 64), "fill").function.name == "fill"


def test_random_kernels_have_faults_of_all_kinds_and_none() -> None:
    kinds = [
        frozenset(each.fault.about for each in found_in_launches(GENERATORS["wide"](seed), seed))
        for seed in range(24)
    ]
    everything = {"barriers", "threadgroup races", "initialised", "buffer races", "bounds"}
    assert set().union(*kinds) == everything
    assert frozenset() in kinds


# -- provers that are wrong -----------------------------------------------------------------------


def _is_caught(name: str) -> bool:
    generator, seed = CAUGHT[name]
    kernel = GENERATORS[generator](seed)
    found = found_in_launches(kernel, seed)
    program = program_of(kernel, name)
    assert not wrongly_proved(program, kernel, found, QUICK)
    with unsound(name):
        return bool(wrongly_proved(program, kernel, found, QUICK))


@pytest.mark.parametrize("name", SOME)
def test_a_prover_that_takes_something_for_granted_is_caught(name: str) -> None:
    assert _is_caught(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CAUGHT)
def test_provers_that_take_things_for_granted_are_caught(name: str) -> None:
    assert _is_caught(name)


def test_all_wrong_provers_that_are_caught_are_known() -> None:
    assert len(CAUGHT) >= 10
    assert CAUGHT.keys() <= UNSOUND.keys()


# -- the campaign ---------------------------------------------------------------------------------


def test_a_campaign_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []

    def block(generator: str, start: int) -> dict[str, object]:
        done.append((generator, start))
        return {
            "contradictions": ["wrong"] if start else [],
            "proved_of_sample": {"bounds": 1},
            "faulty_of_sample": {},
            "sample": 2,
        }

    monkeypatch.setattr(soak, "block", block)
    monkeypatch.setattr(soak, "made_by", lambda: "1234")
    results = tmp_path / "results.jsonl"
    run(results, 100, 1)
    assert len(done) == 2
    run(results, 200, 1)
    assert len(done) == len(set(done)) == 4
    assert sum(each["kernels"] for each in noted(results)) == 200
    text = summary(noted(results))
    assert "1234 wide: 150 kernels, 2 contradictions" in text
    assert "1234 drawn: 50 kernels, 0 contradictions" in text


def test_a_campaign_notes_kernels_that_cannot_be_read_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def block(generator: str, start: int) -> dict[str, object]:
        if (generator, start) == ("wide", 0):
            raise UnsupportedKernel("it is not understood")
        return {"contradictions": [], "proved_of_sample": {}, "faulty_of_sample": {}, "sample": 2}

    monkeypatch.setattr(soak, "block", block)
    results = tmp_path / "results.jsonl"
    run(results, 100, 1)
    lines = noted(results)
    assert [each["kernels"] for each in lines] == [0, 50, 50]
    assert lines[0]["problems"] == ["wide from 0: it is not understood"]
    assert summary(lines).endswith("run in other orders 0")
