"""Results as numbers, as text, as data and as pictures."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as xml
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from assay.hw.apple.facts.accuracy import model_error
from assay.prediction.comparison import comparison
from assay.prediction.listing import listing
from assay.prediction.numbers import amount, bar, digits, percent, seconds, short_name
from assay.prediction.sites import by_function, by_line, own_places
from assay.prediction.text import stacked
from assay.sim.site import Site
from tests.support.predictions import BARRIER, COMPUTE, FILE, LIBRARY, LOAD

from .results import made_up_result


def shown(what: RenderableType) -> str:
    console = Console(file=StringIO(), width=120, color_system=None)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_time_in_the_library_belongs_to_the_line_that_calls_it() -> None:
    assert own_places(LIBRARY, [FILE]) == COMPUTE
    lines = by_line({LIBRARY: {"issue": 3.0}, LOAD: {"dram": 2.0}}, [FILE])
    assert [(each.line, each.causes) for each in lines] == [(3, {"dram": 2.0}), (6, {"issue": 3.0})]


def test_time_without_a_place_is_not_lost() -> None:
    [line] = by_line({Site(): {"launch": 5.0}}, [FILE])
    assert (line.file, line.line, line.cycles) == ("", 0, 5.0)
    [function] = by_function({Site(): {"launch": 5.0}}, [FILE], "gemm")
    assert (function.name, function.cycles) == ("elsewhere", 5.0)


def test_functions_have_their_own_time_and_that_of_what_they_call() -> None:
    times = {LOAD: {"dram": 2.0}, LIBRARY: {"issue": 3.0}, BARRIER: {"barrier": 1.0}}
    found = {each.name: (each.cycles, each.total) for each in by_function(times, [FILE], "gemm")}
    assert found == {"compute": (3.0, 3.0), "load_tile": (2.0, 2.0), "gemm": (1.0, 6.0)}


def test_lines_and_functions_of_a_dispatch_sum_to_its_cycles() -> None:
    [dispatch] = made_up_result().dispatches
    for parts in (dispatch.lines, dispatch.functions):
        assert math.isclose(sum(each.cycles for each in parts), dispatch.cycles)


def test_the_text_of_one_dispatch_says_how_long_why_and_what_limits_it() -> None:
    text = str(made_up_result())
    for expected in (
        "scale on Apple M1",
        "4 threadgroups of 64 threads",
        "4.00 us ± 1% (sampling alone), 4,000 cycles",
        "1.00 TFLOP/s of 2.00 TFLOP/s",
        "100 GB/s of 200 GB/s",
        "8 simdgroups, 2 threadgroups per core; limited by registers",
        "load_tile",
    ):
        assert expected in text
    assert [line.split()[:2] for line in text.splitlines() if "█" in line][4:7] == [
        ["issue", "50%"],
        ["dram", "30%"],
        ["barrier", "20%"],
    ]


def test_the_model_s_own_error_stands_beside_that_of_sampling() -> None:
    one, several = made_up_result(), made_up_result((64, 256, 256))
    known = model_error("memory")
    told = f"half within {percent(known.median)}, 9 in 10 within {percent(known.p90)}"

    for result in (one, several):
        assert "± 1% (sampling alone)" in str(result)
        text = " ".join(str(result).split())
        assert f"model error of {known.count} published streams and reductions, {told}" in text


def test_a_result_without_sampling_has_the_model_s_error_and_no_other() -> None:
    from dataclasses import replace

    result = made_up_result()
    [dispatch] = result.dispatches
    exact = replace(dispatch, time=replace(dispatch.time, error=0.0))
    text = str(replace(result, dispatches=(exact,)))

    assert "±" not in text and "model error" in text


def test_caches_are_warm_or_cold_for_a_kernel_and_the_program_s_own_otherwise() -> None:
    from dataclasses import replace

    result = made_up_result()
    for is_cold, said in ((True, "cold: they"), (False, "warm: they"), (None, "as the program")):
        assert re.search(rf"^caches +{said}", str(replace(result, is_cold=is_cold)), re.M)


def test_a_result_shows_itself_as_text_not_as_its_fields() -> None:
    result = made_up_result()
    assert repr(result) == str(result)


def test_facts_keep_their_names_however_long_they_are() -> None:
    from dataclasses import replace

    result = made_up_result()
    [dispatch] = result.dispatches
    other = replace(dispatch, time=replace(dispatch.time, kind="shared"))
    lines = str(replace(result, dispatches=(other,))).splitlines()

    for name in ("time", "model error", "with launch", "compute", "occupancy"):
        assert any(line.startswith(name) for line in lines), name
    words = " ".join(" ".join(lines).split())
    assert f"9 in 10 within {percent(model_error('shared').p90)}" in words


def test_a_program_has_the_error_of_the_kind_that_takes_most_of_its_time() -> None:
    from dataclasses import replace

    result = made_up_result((64, 256))
    short, long = result.dispatches
    product = replace(long, time=replace(long.time, kind="matrix"))
    mixed = replace(result, dispatches=(short, product))

    assert mixed.model_error == model_error("matrix")


def test_the_text_of_several_dispatches_is_a_table_with_the_longest_first() -> None:
    text = str(made_up_result((64, 256, 256)))
    rows = [line.split() for line in text.splitlines() if line.startswith("scale")]
    assert [row[:2] for row in rows] == [["scale", "2"], ["scale", "1"]]
    assert "3 dispatches, 2 of them different" in text
    assert "GPU time" in text and "seen by host" in text


def test_a_program_without_dispatches_says_so() -> None:
    from dataclasses import replace

    nothing = replace(made_up_result(), dispatches=())
    assert "no kernel was timed" in str(nothing)
    assert nothing.seconds == 0 and nothing.error == 0 and nothing.model_error is None
    assert nothing.to_json()["model_error"] is None
    assert "<svg" in nothing.plot().svg


def test_the_listing_shows_lines_that_cost_something_and_leaves_out_the_others() -> None:
    [dispatch] = made_up_result().dispatches
    text = shown(listing(dispatch))
    loads = next(line for line in text.splitlines() if "void load_tile" in line)
    assert loads.split()[:2] == ["1.60k", "40%"] and "dram" in loads
    assert "#include" in text and "kernel void gemm" in text


def test_the_json_says_everything_once(tmp_path: Path) -> None:
    found = json.loads(json.dumps(made_up_result((64, 256, 256)).to_json()))
    assert found["format"] == "assay-time/1"
    assert found["chip"]["key"] == "m1"
    assert math.isclose(found["sampling_error"], 0.01)
    assert found["model_error"] == asdict(model_error("memory"))
    assert found["dispatches"][0]["model_error"] == found["model_error"]
    first, second, third = found["dispatches"]
    assert third["same_as"] == 1 and "causes" not in third
    assert math.isclose(sum(second["causes"].values()), second["cycles"])
    assert math.isclose(sum(line["cycles"] for line in second["lines"]), second["cycles"])
    assert math.isclose(found["achieved_flops"], 1e12)
    assert math.isclose(found["cycles"], first["cycles"] + 2 * second["cycles"])


def test_the_picture_is_well_formed_and_names_kernels_safely(tmp_path: Path) -> None:
    from dataclasses import replace

    result = made_up_result((64, 256))
    odd = replace(result.dispatches[1], kernel='a<b>&"c"')
    picture = replace(result, dispatches=(result.dispatches[0], odd)).plot()
    drawn = xml.fromstring(picture.svg)
    assert drawn.tag.endswith("svg")
    texts = [each.text or "" for each in drawn.iter() if each.tag.endswith("text")]
    assert 'a<b>&"c"' in texts and "issue 50%" in texts
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text() == picture.svg


def test_chips_are_compared_by_row() -> None:
    text = shown(comparison([made_up_result(), made_up_result((64,))]))
    assert text.count("m1") == 2 and "4.00 us" in text and "1.00 us" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (1234567.8, "1,234,568")],
)
def test_numbers_have_three_digits(value: float, expected: str) -> None:
    assert digits(value) == expected


def test_units_fit() -> None:
    assert [seconds(value) for value in (2.5, 2.5e-3, 2.5e-6, 2.5e-9)] == [
        "2.50 s",
        "2.50 ms",
        "2.50 us",
        "2.50 ns",
    ]
    assert amount(1.5e12, "FLOP") == "1.50 TFLOP"
    assert [percent(share) for share in (0, 0.0001, 0.006, 0.5, 1)] == [
        "0%",
        "0.1%",
        "0.6%",
        "50%",
        "100%",
    ]


@given(st.floats(0, 1), st.integers(1, 60))
def test_bars_are_never_longer_than_their_room_and_never_hide_something(
    share: float, width: int
) -> None:
    drawn = bar(share, width)
    assert len(drawn) <= width
    assert bool(drawn) == (share > 0)


@given(
    st.dictionaries(st.sampled_from(["issue", "dram", "barrier", "l1"]), st.floats(0, 1e9)),
    st.integers(1, 60),
)
def test_stacked_bars_fill_exactly_their_share(causes: dict[str, float], width: int) -> None:
    total = sum(causes.values())
    assert len(stacked(causes, total, width)) == (width if total else 0)
    assert len(stacked(causes, 2 * total, width)) <= width // 2 + 1


def test_names_that_begin_alike_differ_where_they_are_cut() -> None:
    names = [f"conv_2d_nhwc_hwcf_1x112x112x{each}x3x3x3_f32" for each in (32, 64)]
    first, second = (short_name(name, 36) for name in names)
    assert first != second and first.startswith("conv_2d") and first.endswith("x3x3x3_f32")
    assert len(first) == 36
    assert short_name("gemm", 36) == "gemm"
