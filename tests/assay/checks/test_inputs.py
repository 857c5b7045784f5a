"""TOML and `//!` lines: what they say, and what is said about those that are wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.checks import CheckInputError, Inputs, Setup, read_annotations, read_file
from assay.launches.inputs import Fields, Filled, Literal, Raw

ANNOTATED = """#include <metal_stdlib>
//! A kernel that adds. (Documentation, not TOML.)
//!
//! [kernel.add]
//! threads = [64]
//! threadgroup = 32
//! arguments.x = { dtype = "float32", shape = [64], fill = "random" }
//! arguments.n = 64
//! arguments.scratch = { bytes = 1024 }
//! arguments.p = { fields = [["uint32", 64], ["float32", 0.5]] }
//! constants.N = 4
//! constants.3 = true
kernel void add() {}
"""


def setup_of(text: str, kernel: str = "add") -> Setup:
    return read_annotations(text, "k.metal").setups[kernel][0]


def toml(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "args.toml"
    path.write_text(text)
    return path


def test_annotations_describe_grid_arguments_and_constants() -> None:
    setup = setup_of(ANNOTATED)
    assert setup.threads == (64, 1, 1) and setup.threadgroups is None
    assert setup.threadgroup == (32, 1, 1)
    assert setup.arguments == {
        "x": Filled(dtype="float32", shape=(64,), fill="random"),
        "n": Literal(values=(64,)),
        "scratch": Raw(bytes=1024),
        "p": Fields(members=(("uint32", 64), ("float32", 0.5))),
    }
    assert setup.constants == {"N": 4, 3: True}
    assert setup.where == "k.metal:4"


def test_documentation_comments_are_not_taken_for_toml() -> None:
    text = "//! @brief Adds [x] = y\n//! {unbalanced\nkernel void k() {}\n"
    assert read_annotations(text, "k.metal").setups == {}


def test_a_file_says_the_same_and_may_have_several_runs(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        "[[kernel.add]]\nthreadgroups = [2, 3]\n[[kernel.add]]\nthreads = 7\n"
        'arguments.y = { fill = "@y.npy" }\n',
    )
    first, second = read_file(path).setups["add"]
    assert first.threadgroups == (2, 3, 1)
    assert second.threads == (7, 1, 1)
    assert second.arguments["y"] == Filled(fill=tmp_path / "y.npy")


def test_suppressions_carry_a_reason(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        '[[suppress]]\nkind = "race-write-write"\nkernel = "flag"\nreason = "same flag"\n',
    )
    [suppression] = read_file(path).suppressions
    assert (suppression.kind, suppression.kernel) == ("race-write-write", "flag")
    assert suppression.reason == "same flag"
    assert suppression.origin == f"{path}:2"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[kernel.add]\nthreads = 0", "2: kernel.add.threads: expected 1 to 3 positive integers"),
        ("[kernel.add]\nthreads = [1, 2, 3, 4]", "1 to 3 positive integers"),
        ("[kernel.add]\nthreads = 1\nthreadgroups = 2", "3: kernel.add.threadgroups: give threads"),
        ("[kernel.add]\nthread = 1", "2: kernel.add.thread: unknown key; expected threads"),
        ("[kernels.add]\n", "1: kernels: unknown key; expected kernel, suppress"),
        ("[kernel]\nadd = 3", "kernel.add: expected a table"),
        ("[kernel.add]\narguments.x = 'a'", "expected a number, a list of numbers, or a table"),
        ("[kernel.add]\narguments.x = {}", "a shape is missing"),
        ("[kernel.add]\narguments.x = { shape = 4, dtype = 'f99' }", "'f99' is none of float"),
        ("[kernel.add]\narguments.x = { shape = [0] }", "expected positive integers"),
        ("[kernel.add]\narguments.x = { shape = [1048576, 1048576] }", "expected 1 to"),
        ("[kernel.add]\narguments.x = { shape = 4, fill = 'rand' }", "'rand' is no fill"),
        ("[kernel.add]\narguments.x = { bytes = -1 }", "expected 1 to"),
        ("[kernel.add]\narguments.x = { bytes = 4, shape = 3 }", "shape: unknown key"),
        ("[kernel.add]\narguments.x = { fields = [1] }", "type and value of each member"),
        ("[kernel.add]\narguments.x = { fields = [['u9', 1]] }", "'u9' is none of"),
        ("[kernel.add]\nconstants.N = 'x'", "expected a number, true, false or a list"),
        ("[[suppress]]\nkind = 'race'", 'each [[suppress]] needs reason = "..."'),
        ("[suppress]\nkind = 'race'", "expected tables [[suppress]]"),
        ("kernel = [", "not valid TOML"),
        ("kernel = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    path = toml(tmp_path, text)
    said = _said(lambda: read_file(path))
    assert said.startswith(str(path))
    assert complaint in said


def _said(read: Callable[[], Inputs]) -> str:
    """What is wrong: of the whole file, or of one kernel, whose mistake is its own."""
    try:
        inputs = read()
    except CheckInputError as error:
        return str(error)
    (setup,) = inputs.setups["add"]
    return setup.problem


def test_one_kernels_mistake_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    path = toml(tmp_path, "[kernel.add]\nthreads = 0\n[kernel.sub]\nthreads = 4\n")
    setups = read_file(path).setups
    assert "expected 1 to 3 positive integers" in setups["add"][0].problem
    assert setups["sub"][0].problem == "" and setups["sub"][0].threads == (4, 1, 1)


def test_places_in_annotations_are_lines_of_the_source() -> None:
    text = "int a;\n//! [kernel.add]\n//! threads = -3\nint b;\n"
    said = _said(lambda: read_annotations(text, "k.metal"))
    assert said.startswith("k.metal:3: kernel.add.threads")
    with pytest.raises(CheckInputError, match=r"^k\.metal:3:\d+: not valid TOML"):
        read_annotations(text.replace("-3", "= 3"), "k.metal")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckInputError, match=r"none\.toml: cannot be read"):
        read_file(tmp_path / "none.toml")
