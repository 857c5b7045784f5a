"""Declarations of spaces: what they mean, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.sweeps.declaration import read_space, space
from assay.sweeps.errors import SweepError

AXES: dict[str, Any] = {"chip": "m1", "n": 64, "k": 128}


def declared(**entries: Any) -> dict[str, Any]:
    axes = {**AXES, **entries.pop("axes", {})}
    return {"axes": axes, **entries}


def test_points_stand_kernel_by_kernel_then_by_size_then_by_chip() -> None:
    several = {"m": [1, 2], "chip": ["m1", "m2"]}
    axes = {"variant": ["gemv_columns", "gemv"], "unroll": [2, 4], **several}
    found = space(declared(axes=axes))
    assert [
        (dict(p.recipe.knobs).get("unroll"), p.recipe.variant, p.m, p.chip) for p in found.points
    ] == [
        (unroll, variant, m, chip)
        for unroll, variant in ((2, "gemv_columns"), (4, "gemv_columns"), (None, "gemv"))
        for m in (1, 2)
        for chip in ("m1", "m2")
    ]


def test_an_axis_counts_for_the_variants_that_have_it_with_the_values_that_they_take() -> None:
    axes = {"variant": ["gemv_columns", "gemm"], "simdgroups": [4, "2x2", "1x4"]}
    labels = [point.recipe.label for point in space(declared(axes=axes)).points]
    assert labels == ["gemv_columns simdgroups=4", "gemm simdgroups=2x2", "gemm simdgroups=1x4"]


def test_a_variant_may_have_values_of_its_own() -> None:
    found = space(declared(axes={"stages": 3}, variants={"gemm": {"stages": [1, 2]}, "hybrid": {}}))
    labels = [point.recipe.label for point in found.points]
    assert labels == ["gemm stages=1", "gemm stages=2", "hybrid stages=3"]


def test_chips_are_named_by_patterns_too_and_each_counts_once() -> None:
    found = space(declared(axes={"variant": "gemv", "chip": ["m4-max*", "m4-max", "m1"]}))
    assert {"m4-max", "m4-max-32", "m1"} == {point.chip for point in found.points}
    assert len(found.points) == 3


def test_sizes_may_be_a_list_of_products() -> None:
    axes = {"variant": "gemv", "chip": "m1", "sizes": [[1, 64, 128], [8, 128, 64]]}
    assert [p.size for p in space({"axes": axes}).points] == [(1, 64, 128), (8, 128, 64)]


def test_constraints_leave_points_out_and_pass_those_that_lack_what_they_name() -> None:
    found = space(
        declared(
            axes={"variant": ["gemv", "gemm"], "tile": ["64x64x32", "32x32x32"], "stages": [2, 3]},
            constraints=["tile_m * stages <= 128", "not (variant == 'gemm' and stages == 3)"],
        )
    )
    assert [point.recipe.label for point in found.points] == [
        "gemv",
        "gemm tile=64x64x32 stages=2",
        "gemm tile=32x32x32 stages=2",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"axis": {}}, "there is no entry 'axis'; did you mean 'axes'?"),
        ({"axes": {**AXES}}, "axes.variant: no kernel is named"),
        (declared(axes={"variant": "gemw"}), "variant 'gemw' is not known; did you mean 'gemv'?"),
        (declared(axes={"variant": "gemv", "chip": "m99"}), "axes.chip: chip 'm99' is not known"),
        (declared(axes={"variant": "gemv", "policy": "q9"}), "axes.policy: there is no format q9"),
        (declared(axes={"variant": "gemv", "tiles": "8x8x8"}), "there is no axis 'tiles'"),
        (declared(axes={"variant": "gemv", "m": 0}), "axes.m: expected numbers from 1 on, not 0"),
        (declared(axes={"variant": "gemv", "n": []}), "axes.n: an empty list"),
        (declared(axes={"variant": "gemv", "sizes": [[1, 2, 3]]}), "it is either of both"),
        ({"axes": {"variant": "gemv", "chip": "m1", "k": 8}}, "axes.n: there is none"),
        (declared(axes={"variant": "gemm", "tile": "64x64"}), "tile of gemm cannot be '64x64'"),
        (declared(variants={"gemv": {"tile": "8x8x8"}}), "there is no knob of gemv 'tile'"),
        (declared(axes={"variant": "gemv"}, caches="hot"), "expected warm or cold, not 'hot'"),
        (declared(axes={"variant": "gemv"}, element="int"), "expected float or half, not 'int'"),
        (declared(axes={"variant": "gemv"}, constraints=["q < 3"]), "q is no variable"),
        (declared(axes={"variant": "gemv"}, constraints=["n < 3"]), "no point meets"),
        (declared(axes={"variant": "own"}, makers={"own": "here"}), "expected FILE.py:FUNCTION"),
        (
            declared(axes={"variant": "own"}, makers={"own": "none.py:make"}),
            "none.py:make: No such file or directory",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SweepError) as refused:
        space(given)
    assert said in str(refused.value)


def test_a_toml_file_and_a_python_file_declare_the_same(tmp_path: Path) -> None:
    toml, python = tmp_path / "small.toml", tmp_path / "small.py"
    toml.write_text('[axes]\nvariant = "gemv"\nchip = "m1"\nn = [64, 128]\nk = 128\n')
    python.write_text(
        "space = {'axes': {'variant': 'gemv', 'chip': 'm1', 'n': [64 * i for i in (1, 2)], "
        "'k': 128}}\n"
    )
    assert read_space(toml).name == "small"
    assert read_space(toml).points == read_space(python).points


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "[axes", "a.toml: "),
        ("a.toml", "[axes]\nm = 1", "a.toml: axes.variant"),
        ("a.py", "1 / 0", "a.py: ZeroDivisionError"),
        ("a.py", "x = 1", "expected `space`"),
        ("a.json", "{}", "expected a name that ends in .toml or .py"),
    ],
)
def test_errors_name_the_file(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SweepError) as refused:
        read_space(path)
    assert said in str(refused.value)


def test_keys_tell_points_apart_and_tell_when_a_makers_file_changed(tmp_path: Path) -> None:
    axes = {"variant": ["gemv", "gemv_columns"], "unroll": [2, 4], "m": [1, 2]}
    found = space(declared(axes=axes))
    assert len({point.key for point in found.points}) == len(found.points) == 6
    assert space(declared(axes={"variant": "gemv"}, caches="cold")).points[0].key not in {
        point.key for point in found.points
    }
    maker = tmp_path / "own.py"
    text = "def make(weights, rows, element, *, width):\n    raise SystemError\n"
    keys = []
    for line in ("", "# another\n"):
        maker.write_text(text + line)
        given = declared(axes={"variant": "own", "width": 3}, makers={"own": f"{maker}:make"})
        keys.append(space(given).points[0].key)
    assert keys[0] != keys[1]
