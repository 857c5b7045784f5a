"""Parts by an earlier Assay, and kernels as on a smaller machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import before

_FAST, _SLOW, _NEW, _GONE = (("a row", who) for who in ("fast", "slow", "new", "gone"))


def test_rows_that_take_longer_than_before_miss_their_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []

    def measured(part: str, folder: Path, threads: int, repetitions: int) -> object:
        order.append(folder.name)
        if folder.name == "earlier":
            return [(_FAST, 1.0), (_SLOW, 1.0), (_GONE, 1.0)]
        return [(_FAST, 1.02), (_SLOW, 1.2), (_NEW, 1.0)]

    monkeypatch.setattr(before, "_run", measured)
    rows = before.rows("part", Path("earlier"), threads=1, repetitions=1, turns=2)
    assert {row.who: row.passed for row in rows} == {
        "fast": True,
        "slow": False,
        "new": None,
        "gone": None,
    }
    here = Path(before.__file__).parents[1].name
    assert order == [here, "earlier", "earlier", here]  # nobody is always first


def test_a_part_that_the_earlier_one_has_not_is_told(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "__main__.py").write_text("raise SystemExit(2)")
    with pytest.raises(SystemExit, match=r"start in .* gives no rows \(exit code 2\)"):
        before.rows("start", tmp_path, threads=1, repetitions=1, turns=1)


def test_a_machine_is_taken_as_one_with_avx2_alone() -> None:
    code = """
from benchmarks import avx2
avx2.limit()
from assay.sim.native.llvm_host import has_wide_registers, host_machine, host_target
assert avx2.is_limited() and not has_wide_registers()
assert "+avx512" not in host_target()[2] and "+avx2" in host_target()[2]
host_machine()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if "has no AVX2" in done.stderr:
        pytest.skip("no AVX2 here")
    assert done.returncode == 0, done.stderr
