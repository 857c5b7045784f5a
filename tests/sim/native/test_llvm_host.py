"""What code is made for: the host's features, less or more some."""

import llvmlite.binding as llvm
import pytest

from assay.sim.native.llvm_host import host_target


@pytest.mark.parametrize("wide", [False, True])
def test_shuffles_across_lanes_are_fast_where_registers_are_wide(
    wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = llvm.get_host_cpu_features()
    found.update({"avx512f": wide, "prefer-256-bit": True, "avx512bf16": wide})
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: found)
    _, _, features = host_target.__wrapped__()
    named = features.split(",")
    assert ("+fast-variable-crosslane-shuffle" in named) is wide
    assert not {"+prefer-256-bit", "+avx512bf16"} & set(named)
