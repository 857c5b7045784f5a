"""The modules that programs import have every function IREE's have, called as IREE's are."""

import pytest

from assay.hal.vm.modules.check import CheckModule
from assay.hal.vm.modules.hal import HalModule
from assay.hal.vm.modules.io_parameters import ParametersModule

# Facts: `runtime/src/iree/modules/{hal,io/parameters}/exports.inl` and
# `compiler/src/iree/compiler/Modules/Check/check.imports.mlir` of iree-org/iree (b48a5955).
FUNCTIONS = """
hal.allocator.allocate 0rIiiI_r
hal.allocator.import 0riIiirII_r
hal.allocator.select 0iiICrID_rI
hal.buffer.allocation.discard 0r_i
hal.buffer.allocation.is_terminal 0r_i
hal.buffer.allocation.preserve 0r_v
hal.buffer.assert 0rrrIii_v
hal.buffer.length 0r_I
hal.buffer.load 0rIi_i
hal.buffer.store 0irIi_v
hal.buffer.subspan 0rII_r
hal.buffer_view.assert 0rriiCID_v
hal.buffer_view.buffer 0r_r
hal.buffer_view.create 0rIIiiCID_r
hal.buffer_view.dim 0ri_I
hal.buffer_view.element_type 0r_i
hal.buffer_view.encoding_type 0r_i
hal.buffer_view.rank 0r_i
hal.buffer_view.trace 0rCrD_v
hal.channel.create 0rIIrrii_r
hal.channel.rank_and_count 0r_ii
hal.channel.split 0riiI_r
hal.command_buffer.advise_buffer 0rrIIIi_v
hal.command_buffer.begin_debug_group 0rr_v
hal.command_buffer.collective 0rriiiirrIIIII_v
hal.command_buffer.copy_buffer 0riirIrIII_v
hal.command_buffer.create 0riiIi_r
hal.command_buffer.dispatch 0rrIiiiICiDCiirIID_v
hal.command_buffer.dispatch.indirect 0rrIirIICiDCiirIID_v
hal.command_buffer.end_debug_group 0r_v
hal.command_buffer.execution_barrier 0riiI_v
hal.command_buffer.fill_buffer 0rrIIiIiI_v
hal.command_buffer.finalize 0r_v
hal.command_buffer.update_buffer 0rrIrIIiI_v
hal.device.allocator 0r_r
hal.device.query.i64 0rrr_iI
hal.device.queue.alloca 0rIrrIiiII_r
hal.device.queue.barrier 0rIrrI_v
hal.device.queue.copy 0rIrrrIrIII_v
hal.device.queue.dealloca 0rIrrrI_v
hal.device.queue.execute 0rIrrrI_v
hal.device.queue.execute.indirect 0rIrrrICrIID_v
hal.device.queue.fill 0rIrrrIIIiI_v
hal.device.queue.flush 0rI_v
hal.device.queue.read 0rIrrrIrIII_v
hal.device.queue.update 0rIrrrIrIII_v
hal.device.queue.write 0rIrrrIrIII_v
hal.devices.count 0v_i
hal.devices.get 0i_r
hal.ex.file.from_memory 0rIirIIi_r
hal.executable.create 0rIrrr_r
hal.executable.lookup.function 0rr_I
hal.fence.await 0iICrD_i
hal.fence.create 0rI_r
hal.fence.fail 0ri_v
hal.fence.join 0ICrD_r
hal.fence.query 0r_i
hal.fence.signal 0r_v
io_parameters.gather 0rIrrrrrrr_v
io_parameters.load 0rIrrrIiirrr_r
io_parameters.scatter 0rIrrrrrrr_v
check.expect_true 0i_v
check.expect_false 0i_v
check.expect_all_true 0rr_v
check.expect_eq 0rrr_v
check.expect_almost_eq 0rrrff_v
"""

MODULES = {"hal": HalModule(()), "io_parameters": ParametersModule({}), "check": CheckModule()}
DECLARED = dict(line.split() for line in FUNCTIONS.strip().splitlines())


@pytest.mark.parametrize("name", DECLARED)
def test_function_exists_with_irees_calling_convention(name: str) -> None:
    module, _, function = name.partition(".")
    conventions, _ = MODULES[module].exports()[function]
    assert DECLARED[name] in conventions


def test_there_are_no_others() -> None:
    ours = {
        f"{name}.{function}" for name, module in MODULES.items() for function in module.exports()
    }
    assert ours == DECLARED.keys()


def test_each_function_is_a_method_of_its_own() -> None:
    functions = [function for _, function in MODULES["hal"].exports().values()]
    assert len({function.__name__ for function in functions}) == len(functions) == 58
