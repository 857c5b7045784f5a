"""Object files of every host we run on tell which functions they call."""

import llvmlite.binding as llvm
import pytest

from assay.sim.native.llvm_host import start_llvm
from assay.sim.native.object_file import undefined_symbols

SOURCE = """
declare void @elsewhere(i32)
define internal void @inside() noinline { ret void }
define void @here() {
  call void @inside()
  call void @elsewhere(i32 1)
  ret void
}
"""


@pytest.mark.parametrize(
    "triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-darwin23"]
)
def test_functions_that_are_not_in_the_file_are_named(triple: str) -> None:
    start_llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine()
    module = llvm.parse_assembly(SOURCE, llvm.create_context())
    module.triple = triple
    assert undefined_symbols(bytes(machine.emit_object(module))) == ["elsewhere"]


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(ValueError, match="neither an ELF nor a Mach-O"):
        undefined_symbols(b"MZ" + bytes(100))
