"""A schedule is made and completed pass by pass; what is written by hand is done, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from assay.compiler.graph.importer import import_model
from assay.compiler.models.errors import ModelError
from assay.compiler.torq.hl.dialect import hl_context, parsed
from assay.compiler.torq.layers import expose
from assay.compiler.torq.passes.pipeline import run_passes, usual_passes
from assay.compiler.torq.plan.dialect import plan_context, plan_parsed
from assay.compiler.torq.schedule.compile import compiled, program_for
from assay.compiler.torq.schedule.ir.passes import (
    AllocateLram,
    AllocateXram,
    KeepCode,
    PackConstants,
    Schedule,
)
from assay.compiler.torq.schedule.options import USUAL, VENDOR, Options
from tests.compiler.graph import models
from tests.models.tflite.network import Network

from .running import assert_exact_and_clean

needs_models = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")


def _passes(options: Options = USUAL) -> list[ModulePass]:
    return [
        Schedule(options),
        PackConstants(),
        AllocateLram(options),
        KeepCode(options),
        AllocateXram(options),
    ]


def _through_text(text: str, passes: list[ModulePass]) -> str:
    """What passes leave; before each of them the module is written and read again."""
    for number, each in enumerate(passes):
        module = plan_parsed(text)
        assert not number or str(module) == text
        each.apply(plan_context(), module)
        text = str(module)
    return text


def _assert_same(module: ModuleOp, options: Options = USUAL) -> str:
    """The text of the schedule, whose program is that of the module without one."""
    run_passes(module, usual_passes(without=options.left_out))
    plain = str(module)
    text = _through_text(plain, _passes(options))
    assert program_for(plan_parsed(text), options) == program_for(parsed(plain), options)
    return text


def _together(net: Network) -> bytes:
    return net.finish(net.convolution(net.convolution(net.input((1, 32, 32, 4)), 32, 1), 8, 3))


def _in_parts(net: Network) -> bytes:
    return net.finish(net.fully_connected(net.input((1, 1_500)), 12))


@needs_models
@pytest.mark.parametrize(
    ("make", "lram"), [pytest.param(_together, 48, marks=pytest.mark.slow), (_in_parts, 28)]
)
def test_the_program_of_little_lram_is_the_same_pass_by_pass(
    make: Callable[[Network], bytes], lram: int, tmp_path: Path
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(make(Network(3)))
    small = Options(hardware=f"{lram}:2:coral_v1:nss_v1")
    text = _assert_same(import_model(path, hl_context()), small)
    assert (make is _in_parts) == (", terms " in text)


@needs_models
@pytest.mark.parametrize("options", [USUAL, VENDOR, Options(double_buffer=False)])
def test_the_program_of_a_network_is_the_same_pass_by_pass(options: Options, folder: Path) -> None:
    _assert_same(models.imported("small", folder), options)


@needs_models
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, USUAL) for name in (*models.LARGE, "ds_cnn", "wide_cnn", "int16_cnn")),
        *((name, VENDOR) for name in ("mobilenet_v2", "lstm", "ds_cnn")),
    ],
)
def test_the_program_of_a_large_network_is_the_same_pass_by_pass(
    name: str, options: Options, folder: Path
) -> None:
    module = models.imported(name, folder)
    run_passes(module, usual_passes(without=options.left_out))
    done = module.clone()
    for each in _passes(options):
        each.apply(plan_context(), done)
    text = str(done)
    program = program_for(plan_parsed(text), options)
    assert program == program_for(parsed(str(module)), options)


_CLAMPS = """builtin.module {
  func.func @main(%x: !torq_hl.tensor<786432xi8>) -> !torq_hl.tensor<786432xi8> {
    %0 = torq_hl.clamp %x {low = -5 : i64, high = 5 : i64,
      tiles = #torq_hl.tiles<"clamp", [131072] by [0]>}
      : (!torq_hl.tensor<786432xi8>) -> !torq_hl.tensor<786432xi8>
    func.return %0 : !torq_hl.tensor<786432xi8>
  }
}
"""
_CLAMP = _CLAMPS.replace("786432", "16").replace("131072", "16")


def test_kept_commands_are_loaded_once_and_the_program_is_the_same() -> None:
    *before, keep, _ = _passes()
    allocated = _through_text(_CLAMPS, before)
    kept = _through_text(allocated, [keep])
    assert allocated.count("load_commands") == 12 and kept.count("load_commands") == 6
    done = _through_text(kept, [AllocateXram()])
    assert program_for(plan_parsed(done)) == program_for(parsed(_CLAMPS))


def test_a_schedule_is_written_the_same_each_time() -> None:
    assert _through_text(_CLAMPS, _passes()[:1]) == _through_text(_CLAMPS, _passes()[:1])


def _done(*passes: ModulePass) -> str:
    return _through_text(_CLAMP, [Schedule(), *passes])


@cache
def _placed() -> str:
    return _done(AllocateLram(), AllocateXram())


@needs_models
def test_addresses_that_are_written_by_hand_are_taken(folder: Path) -> None:
    inputs, expected = models.reference("small", folder)
    module = models.imported("small", folder)
    run_passes(module, usual_passes())
    text = _through_text(str(module), _passes()[:-1])
    (found,) = re.findall(r'"x of convolution 0".* at <lram\[(0x[0-9a-f]+)\]>', text)
    changed = text.replace(f"<lram[{found}]>", "<lram[0x40000]>", 1)
    program = program_for(plan_parsed(_through_text(changed, [AllocateXram()])))
    names = [symbol.name for symbol in program.notes.symbols if symbol.start == 0x40000]
    assert names == ["x of convolution 0"]
    assert_exact_and_clean(program, inputs, expected)


def test_room_from_the_other_end_is_given_from_there() -> None:
    text = _done()
    changed = text.replace(
        '"x of clamp 0" 16 of %0 : !torq_hl.tensor<16xi8> top', '"x of clamp 0" 16'
    )
    assert changed != text
    assert '"x of clamp 0" 16 at <lram[0x500]>' in _through_text(changed, [AllocateLram()])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lram[0x7ff40]", "lram[0x7f900]", "y of clamp 0 overlaps x of clamp 0 while both are in"),
        (
            "lram[0x7ff40]",
            "lram[0x7ff41]",
            "x of clamp 0 is at 0x7ff41, which is no multiple of 64",
        ),
        ("lram[0x7ff40]", "lram[0x7ffc0]", "x of clamp 0 is at 0x7ffc0 to 0x7ffd0; buffers have"),
        ("lram[0x7ff40]", "lram[0x0]", "x of clamp 0 is at 0x0 to 0x10; buffers have LRAM from 0x"),
        (" at <lram[0x7ff40]>", "", "x of clamp 0 has no address: pass allocate-lram gives it one"),
        (" at <xram[0x100000]>", "", "input 0 has no address: pass allocate-xram gives it one"),
        (" at <xram[0x101010]>", "", "commands of clamp 0 have no address: pass allocate-xram"),
        ("xram[0x101000]", "xram[0x100000]", "output 0 overlaps input 0 in XRAM"),
        ("xram[0x101010]", "xram[0x101004]", "commands of clamp 0 overlaps output 0 in XRAM"),
        ("xram[0x101000]", "xram[0x100801]", "output 0 is at 0x100801 in XRAM, where it cannot be"),
        ('by <"clamp">', 'by <"clam">', "clamp 0: there is no kernel 'clam'; there are clamp"),
        (
            'by <"clamp">',
            'by <"clamp", terms 3 from 0>',
            "clamp 0: clamp cannot sum 3 terms from 0",
        ),
        (
            "for <[0], [16]>",
            "for <[8], [16]>",
            r"clamp 0: its result has no \(16,\) from \(8,\) on",
        ),
        ("for <[0], [16]>", "for <[0], [8]>", "clamp 0: x is 8 int8, not 16 int8"),
        ('<"x", "x"', '<"z", "x"', "clamp 0: kernel clamp needs x"),
        ("tasks 0 to 1", "tasks 0 to 2", "clamp 0: it has 1 tasks, not 2"),
        ('"x of clamp 0" 16', '"x of clamp 0" 15', "a transfer is larger than its buffer, x of"),
        (
            "int8 [16] by [1] + 0>, #",
            "int8 [16] by [1] + 1>, #",
            "clamp 0: x is larger than its buf",
        ),
        ("move<16, xram + 0", "move<16, xram + 4", "of bytes 4 to 20 of input 0, which has 16"),
        ('"slice code" 1536', '"slice code" 64', "clamp 0: its commands have 240 bytes, and their"),
        ('caller 1 "output 0"', 'caller 2 "output 0"', "tensor 2 of the caller's 2"),
    ],
)
def test_what_a_schedule_cannot_ask_for_is_refused_by_operator(
    old: str, new: str, message: str
) -> None:
    text = _placed()
    assert old in text
    with pytest.raises(ModelError, match=message):
        program_for(plan_parsed(text.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("      torq_plan.wait %xr\n", "", "XR is started, and nothing has waited for its end"),
        ("      torq_plan.wait %xw\n", "", "nothing waits for the end of XW"),
        ("torq_plan.wait %xr_1", "torq_plan.wait %xr", "waits for what has ended"),
        ("torq_plan.free %buffer_1", "torq_plan.free %buffer_2", "uses a buffer that is free"),
        ("tasks 0 to 1", "tasks 1 to 1", "there are no tasks to do"),
        ("commands 0 of", "commands 2 of", "there is no slice 2"),
        ('"x of clamp 0" 16', '"x of clamp 0" 0', "a buffer of 0 bytes"),
        ("move<16,", "move<0,", "a transfer of 0 bytes"),
        ("xram + 0, lram + 0", "xram + 0, lram + -4", "from before the beginning of memory"),
    ],
)
def test_a_schedule_that_is_none_is_refused_when_it_is_read(
    old: str, new: str, message: str
) -> None:
    text = _placed()
    assert old in text
    with pytest.raises(VerifyException, match=message):
        plan_parsed(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "move<16, xram + 0, lram + 0>",
            "move<8, xram + 0, lram + 0>",
            "x is not where slice 0 re",
        ),
        ('"x" int8 [16] by [1]', '"x" int8 [16] by [0]', "clamp 0: x is not where slice 0 reads"),
        ("load %memory to", "load %memory_1 to", "clamp 0: x is not where slice 0 reads it"),
        ("to %memory_1", "to %memory", "store of y of clamp 0: input 0 is not there to be written"),
    ],
)
def test_what_would_make_something_else_is_refused(old: str, new: str, message: str) -> None:
    text = _placed()
    assert old in text
    with pytest.raises(ModelError, match=message):
        program_for(plan_parsed(text.replace(old, new, 1)))


def test_what_does_not_wait_for_what_it_needs_is_refused() -> None:
    text = _placed()
    wait = "      torq_plan.wait %slc0\n"
    (store,) = re.findall(r".*%xw = .*\n", text)
    early = text.replace(wait, "").replace(store, store + wait)
    assert early != text
    with pytest.raises(ModelError, match="store of y of clamp 0: reads what is written meanwhile"):
        program_for(plan_parsed(early))


def test_two_schedules_of_a_function_are_refused() -> None:
    head, schedule, tail = re.split(r"(?ms)(^    torq_plan\.schedule.*?^    }\n)", _placed())
    with pytest.raises(VerifyException, match="the last thing before a function returns"):
        plan_parsed(head + schedule + schedule + tail)


def test_results_that_are_not_stored_are_refused() -> None:
    text = _placed()
    stored = re.sub(r".*%xw.*\n", "", text)
    assert stored != text
    with pytest.raises(ModelError, match="the schedule does not store all of output 0"):
        program_for(plan_parsed(stored))


def test_what_comes_too_late_is_refused() -> None:
    text = _placed()
    (load,) = re.findall(r".*%xr = .*\n", text)
    (run,) = re.findall(r".*%slc0 = .*\n", text)
    load += "      torq_plan.wait %xr\n"
    late = text.replace(load, "").replace(run, run + load)
    assert late.count(load) == 1
    with pytest.raises(ModelError, match="clamp 0: x is not where slice 0 reads it"):
        program_for(plan_parsed(late))


def test_buffers_that_find_no_room_are_refused_by_operator() -> None:
    text = _done().replace('"y of clamp 0" 16', '"y of clamp 0" 600000', 1)
    with pytest.raises(ModelError, match=r"^clamp 0: no room in LRAM for y of clamp 0, 600,000"):
        _through_text(text, [AllocateLram()])


def test_constants_that_are_not_packed_are_refused(tmp_path: Path) -> None:
    text = """builtin.module {
      func.func @main(%x: !torq_hl.tensor<1x4xi8>) -> !torq_hl.tensor<1x4xi8> {
        %w = torq_hl.const {values = dense<1> : tensor<4x4xi8>} : !torq_hl.tensor<4x4xi8>
        %b = torq_hl.const {values = dense<0> : tensor<4xi32>} : !torq_hl.tensor<4xi32>
        %0 = torq_hl.fully_connected %x, %w, %b
          {rescale = #torq_hl.rescale<[1073741824], [37], zp 0, range -128 to 127>}
          : (!torq_hl.tensor<1x4xi8>, !torq_hl.tensor<4x4xi8>, !torq_hl.tensor<4xi32>)
          -> !torq_hl.tensor<1x4xi8>
        func.return %0 : !torq_hl.tensor<1x4xi8>
      }
    }"""
    allocated = _through_text(text, [Schedule(), AllocateLram()])
    with pytest.raises(ModelError, match="weights of fully_connected 0 is not packed: pass pack-c"):
        _through_text(allocated, [AllocateXram()])
    packed = _through_text(allocated, [PackConstants()])
    short = re.sub(r'holds <"01', 'holds <"', packed, count=1)
    with pytest.raises(ModelError, match="fully_connected 0: 32 bytes of weights are needed; here"):
        _through_text(short, [AllocateXram()])


def test_passes_over_schedules_say_what_is_missing() -> None:
    for each in _passes()[1:]:
        with pytest.raises(ModelError, match=f"pass {each.name} takes a function with a schedule"):
            each.apply(plan_context(), plan_parsed(_CLAMP))


def test_a_file_with_a_part_of_a_schedule_is_compiled_by_it(tmp_path: Path) -> None:
    path = tmp_path / "clamp.mlir"
    path.write_text(_done(PackConstants()).replace("16 of %0 : !torq_hl.tensor<16xi8> top", "16"))
    symbols = compiled(path).program.notes.symbols
    assert [s.start for s in symbols if s.name == "x of clamp 0"] == [0x500]


def test_a_program_with_all_tensors_has_a_schedule_of_its_own() -> None:
    module = plan_parsed(_placed())
    assert [layer.operator for layer in expose(module)] == ["clamp"]
    outputs = [binding.name for binding in program_for(module).bindings if binding.is_output]
    assert outputs == ["output 0", "output 1"]
