"""Which variables begin without a value."""

from __future__ import annotations

import pytest

from assay.sim.simt.read.uninitialised import PREFIX, mark_uninitialised

_TEXT = """%"struct.{name}" = type {{ float, i32 }}

define void @_Z1fv() {{
  %1 = alloca %"struct.{name}", align 4
  call void @{function}(ptr dead_on_unwind writable sret(%"struct.{name}") align 4 %1)
  ret void
}}
"""


@pytest.mark.parametrize(
    ("name", "function", "marks"),
    [
        ("hit", "_Z1gv", 2),
        ("metal::simdgroup_matrix", "_ZN5metal1gEv", 0),
        ("metal::simdgroup_matrix", "_Z1gv", 2),
    ],
)
def test_what_a_function_returns_begins_unset_but_for_the_librarys_own(
    name: str, function: str, marks: int
) -> None:
    # Functions of the library set all that they return; to follow it takes time.
    assert (
        mark_uninitialised(_TEXT.format(name=name, function=function)).count(f" @{PREFIX}")
        == 2 * marks
    )
