"""Which variables begin without a value."""

from __future__ import annotations

import pytest

from assay.sim.simt.read.uninitialised import PREFIX, mark_uninitialised

_TEXT = """%"struct.{name}" = type {{ float, i32 }}

define void @f() {{
  %1 = alloca %"struct.{name}", align 4
  call void @g(ptr %1)
  ret void
}}
"""


@pytest.mark.parametrize(("name", "marks"), [("hit", 2), ("metal::simdgroup_matrix", 0)])
def test_what_a_function_returns_begins_unset_but_for_the_librarys_own(
    name: str, marks: int
) -> None:
    # Functions of the library set all that they return; to follow it takes time.
    assert mark_uninitialised(_TEXT.format(name=name)).count(f" @{PREFIX}") == 2 * marks
