from itertools import product

import pytest

from assay.hw.apple.facts.chips import chip, chips, chips_of
from assay.hw.apple.facts.inherit import inherited
from assay.hw.apple.facts.instructions import instruction_set, instruction_set_of
from assay.hw.apple.facts.limits import limits, limits_of, matrix_layout
from assay.hw.apple.facts.manual import page
from assay.hw.apple.facts.memory import memory
from assay.hw.apple.facts.residency import residency
from assay.hw.facts import SpecError, fact, measure, parse, read_package_file
from assay.sim import lanes
from assay.sim.simt.ir.meaning import lanes as reference

SOURCED = """
[sources]
book = "A book"
"""


def numbers_in(value: object, path: str = "") -> list[tuple[str, object]]:
    """Every innermost table that holds a number, with its path."""
    if not isinstance(value, dict):
        return [(path, value)] if isinstance(value, int | float) else []
    if "value" in value:
        return [(path, value)]
    return [found for key, item in value.items() for found in numbers_in(item, f"{path}.{key}")]


@pytest.mark.parametrize(
    "name",
    [
        "limits.toml",
        "chips.toml",
        "instructions.toml",
        "memory.toml",
        "occupancy.toml",
        "overheads.toml",
        "accuracy.toml",
        "promises.toml",
    ],
)
def test_every_number_has_unit_source_and_confidence(name: str) -> None:
    file = read_package_file("assay.hw.apple.facts", name)
    found = numbers_in(dict(file.tables))
    assert found
    for path, value in found:
        measure(file, path.removeprefix("."), value)


def test_a_number_without_a_source_is_refused() -> None:
    file = parse(
        "x.toml", SOURCED + '[limits.blit_alignment]\nvalue = 1\nunit = "B"\nconfidence = "high"\n'
    )
    with pytest.raises(SpecError, match=r"x\.toml: \[limits\.blit_alignment\] lacks source"):
        fact(file, "limits.blit_alignment", file.tables["limits"]["blit_alignment"])  # type: ignore[index]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('value = 1\nunit = "B"\nsource = "hearsay"\nconfidence = "high"', "source is 'hearsay'"),
        ('value = 1\nunit = "B"\nsource = "book"\nconfidence = "sure"', "confidence is 'sure'"),
        ('value = 1.5\nunit = "B"\nsource = "book"\nconfidence = "low"', "must be a whole number"),
        (
            'value = 1\nunit = ""\nsource = "book"\nconfidence = "low"',
            r"blit_alignment\.unit must be non-empty",
        ),
        ('value = 1\nunit = "B"\nsource = "book"\nconfidence = "low"\nx = 2', "has x;"),
    ],
)
def test_a_wrong_entry_is_refused_with_file_and_key(entry: str, message: str) -> None:
    file = parse("x.toml", SOURCED + "[limits.blit_alignment]\n" + entry)
    with pytest.raises(SpecError, match=rf"x\.toml.*{message}"):
        fact(file, "limits.blit_alignment", file.tables["limits"]["blit_alignment"])  # type: ignore[index]


def test_a_file_that_lacks_a_limit_or_has_an_unknown_one_is_refused() -> None:
    with pytest.raises(SpecError, match=r"x\.toml: \[limits\] lacks blit_alignment"):
        limits_of(parse("x.toml", SOURCED + "[limits]"))
    with pytest.raises(SpecError, match=r"\[limits\] must be a table, and is missing"):
        limits_of(parse("x.toml", SOURCED))
    with pytest.raises(SpecError, match=r"\[chips\.m1\] has speed"):
        chips_of(parse("x.toml", SOURCED + '[chips.m1]\nname = "A"\nspeed = 1'))
    with pytest.raises(SpecError, match="is not TOML"):
        parse("x.toml", "[")


_CHIP = """
[chips.x]
name = "Apple X"
timing = "apple7"
family = { value = 7, unit = "Apple GPU family", source = "book", confidence = "low" }
cores = { value = 8, unit = "core", source = "book", confidence = "low" }
clock = { value = 1278, unit = "MHz", source = "book", confidence = "low" }
bandwidth = { value = 68.3, unit = "GB/s", source = "book", confidence = "low" }
sustained = { value = 0.9, unit = "ratio", source = "book", confidence = "low" }
slc = { value = 8, unit = "MiB", source = "book", confidence = "low" }
l2 = { value = 768, unit = "KiB", source = "book", confidence = "low" }

[chips.x.variants.7]
cores = { value = 7, unit = "core", source = "book", confidence = "low" }
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("value = 8, unit", "value = 0, unit", r"cores\.value must be more than 0"),
        ("value = 8, unit", "value = 8.5, unit", r"cores\.value must be a whole number"),
        ("MHz", "GB/s", r"clock\.unit is 'GB/s'; it must be 'MHz'"),
        ("value = 0.9", "value = 1.7", r"sustained\.value must be at most 1"),
        (
            'value = 7, unit = "core',
            'value = 9, unit = "core',
            r"variants\.7\] must have cores = 7",
        ),
        ("variants.7", "variants.9", r"variants\.9\] must have cores = 9"),
        ("variants.7", "variants.seven", r"variants\.seven\] must have cores = seven"),
    ],
)
def test_a_chip_that_cannot_be_is_refused(old: str, new: str, message: str) -> None:
    assert set(chips_of(parse("x.toml", SOURCED + _CHIP))) == {"x", "x-7"}
    with pytest.raises(SpecError, match=rf"x\.toml: .*{message}"):
        chips_of(parse("x.toml", SOURCED + _CHIP.replace(old, new, 1)))


def test_limits_are_those_of_the_feature_set_tables() -> None:
    known = limits()
    assert (known.buffers_per_stage, known.threadgroup_memory) == (31, 32768)
    assert (known.threads_per_threadgroup, known.inline_bytes) == (1024, 4096)


def test_matrix_layout_covers_each_element_once() -> None:
    layout = matrix_layout()
    cells = [layout.position(lane, element) for lane, element in product(range(32), range(2))]
    assert sorted(cells) == sorted(product(range(8), range(8)))
    assert layout.position(13, 1) == (2, 7)


def test_an_unknown_chip_is_refused_with_the_choices() -> None:
    assert chip("m4-max").name == "Apple M4 Max"
    assert {entry.family for entry in chips().values()} == {7, 8, 9, 10}
    with pytest.raises(SpecError, match="chip 'm0' is not known; there are a14, m1, m1-7, m1-pro"):
        chip("m0")


def test_every_chip_has_tables_of_instructions_memory_and_occupancy() -> None:
    for entry in chips().values():
        assert instruction_set(entry.timing).classes["ffma32"].interval > 0
        assert memory(entry.timing).l1 > 0
        assert residency(entry.timing).simdgroups > 0


def test_a_variant_with_fewer_cores_differs_only_where_it_says_so() -> None:
    full, fewer = chip("m4-max"), chip("m4-max-32")
    assert (full.cores, fewer.cores) == (40, 32)
    assert (full.bandwidth, fewer.bandwidth) == (546e9, 410e9)
    assert (full.clock, full.slc, full.name) == (fewer.clock, fewer.slc, fewer.name)
    assert chip("m4-max-40") is full
    with pytest.raises(SpecError, match="chip 'm4-max-39' is not known"):
        chip("m4-max-39")


def test_tables_that_inherit_are_laid_over_each_other() -> None:
    def number(value: int) -> str:
        return f'{{ value = {value}, unit = "cycle", source = "book", confidence = "low" }}'

    file = parse(
        "x.toml",
        f"{SOURCED}[a]\nx = {number(1)}\ny = {number(2)}\n[a.z]\nw = {number(3)}\n"
        f'[b]\ninherits = "a"\nx = {number(4)}\n[b.z]\nv = {number(5)}\n[c]\ninherits = "c"',
    )
    merged = inherited(file, "b")
    assert measure(file, "x", merged["x"]).value == 4
    assert measure(file, "y", merged["y"]).value == 2
    assert set(merged["z"]) == {"w", "v"}  # type: ignore[call-overload]
    with pytest.raises(SpecError, match=r"x\.toml: \[c\] inherits from itself"):
        inherited(file, "c")
    with pytest.raises(SpecError, match=r"there is no table \[d\], only a, b, c"):
        inherited(file, "d")


def test_instructions_that_name_an_unknown_unit_are_refused() -> None:
    text = (
        f"{SOURCED}[a.units]\n[a.turnaround]\n[a.reuse.wide]\n[a.reuse.narrow]\n"
        '[a.classes.add]\nunit = "fp32"\n'
    )
    with pytest.raises(SpecError, match=r"x\.toml: a\.classes\.add\.unit is 'fp32'"):
        instruction_set_of(parse("x.toml", text), "a")


def test_the_reference_page_is_current(pytestconfig: pytest.Config) -> None:
    stored = pytestconfig.rootpath / "docs" / "reference" / "apple-gpus.md"
    assert stored.read_text(encoding="utf-8") == page()


def test_simdgroups_have_as_many_lanes_in_the_facts_the_engine_and_its_reference() -> None:
    assert limits().thread_execution_width == lanes.LANES == reference.LANES
