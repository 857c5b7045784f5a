"""Colours of the timeline can be told apart by everybody."""

import re
from importlib.resources import files

import pytest

from assay.traces.events.kinds import CAUSES
from assay.traces.events.schema import Group
from assay.traces.viewer.paints import FUNCTION_STYLES
from tests.support import colours

SOURCE = files("assay.traces.viewer").joinpath("palette.js").read_text(encoding="utf-8")
STYLES = {
    name: (light, dark, hatch)
    for name, light, dark, hatch in re.findall(
        r'"([\w-]+)": \["(#\w{6})", "(#\w{6})", "(\w*)"\]', SOURCE
    )
}


def functions(dark: bool) -> list[str]:
    """The colours of functions on a light or dark page."""
    block = re.search(r"const FUNCTIONS = \[([^\]]*)\]", SOURCE)
    swaps = re.search(r"\(\{ (.*?) \}\)\[colour\]", SOURCE)
    assert block is not None
    assert swaps is not None
    replaced = dict(re.findall(r'"(#\w{6})": "(#\w{6})"', swaps[1]))
    found = re.findall(r'"(#\w{6})"', block[1])
    return [replaced.get(colour, colour) for colour in found] if dark else found


def test_distances_are_those_of_the_paper() -> None:
    # Rows 1, 7 and 17 of the test data that Sharma, Wu and Dalal published.
    data = [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ]
    for one, other, expected in data:
        assert colours.distance(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("sight", colours.SIGHT)
def test_functions_can_be_told_apart(sight: str, dark: bool) -> None:
    palette = functions(dark)
    assert len(palette) == FUNCTION_STYLES
    distance, one, other = colours.least_distance(palette, sight)
    assert distance > 8, f"{one} and {other} look alike with {sight}"


@pytest.mark.parametrize("sight", colours.SIGHT)
def test_writing_and_reading_can_be_told_apart(sight: str) -> None:
    for page in (0, 1):
        pair = [STYLES[f"access-{access}"][page] for access in ("write", "read")]
        assert colours.least_distance(pair, sight)[0] > 25


def test_every_cause_has_a_colour_and_what_waits_is_hatched() -> None:
    for cause in CAUSES.values():
        if cause.group is Group.STALLED:
            assert STYLES[f"cause-{cause.name}"][2] in {"up", "down", "bars", "dots"}
    assert all(not hatch for name, (_, _, hatch) in STYLES.items() if "cause" not in name)


def test_colours_stand_out_from_their_page() -> None:
    for dark, page in ((False, "#ffffff"), (True, "#15181d")):
        used = [
            STYLES[name][dark]
            for name in STYLES
            if name.startswith("cause-") and "idle" not in name
        ]
        for colour in used:
            assert colours.contrast(colour, page) > 2, colour


@pytest.mark.parametrize(("theme", "place"), [("light", 0), ("dark", 1)])
def test_text_of_the_page_can_be_read(theme: str, place: int) -> None:
    style = files("assay.traces.viewer").joinpath("view.css").read_text(encoding="utf-8")
    block = style.split("}")[place]
    value = dict(re.findall(r"--(\w+): (#\w{6});", block))
    for ink in ("ink", "muted"):
        for ground in ("page", "bar", "band", "cursor"):
            assert colours.contrast(value[ink], value[ground]) > 4.4, (theme, ink, ground)


@pytest.mark.parametrize("dark", [False, True])
def test_uses_of_arrays_look_like_no_function(dark: bool) -> None:
    for access in ("write", "read", "both"):
        colour = STYLES[f"access-{access}"][dark]
        for function in functions(dark):
            distance = min(
                colours.least_distance([colour, function], sight)[0] for sight in colours.SIGHT
            )
            assert distance > (8 if access == "read" else 2), (access, function)
