"""Control flow, calls, lists, buffers and globals, against IREE's own VM where it can run them."""

import pytest

from assay.hal.vm import Limits, LoadedModule, Session, VmError

from .doubles import compiled, recording_device
from .programs import VM_FLAGS, IreeVm, vm_session

PROGRAM = """
vm.module @program {
  vm.global.i32 private mutable @counter = 5 : i32
  vm.global.i64 private mutable @wide = 0 : i64
  vm.global.ref private mutable @kept : !vm.list<i32>
  vm.rodata private @text dense<[104, 101, 108, 108, 111, 0, 255, 7]> : tensor<8xi8>

  vm.export @mixed
  vm.func @mixed(%a: i32, %b: i64, %c: i32, %d: i64) -> i64 {
    %r = vm.call @pack(%d, %a, %b, %c) : (i64, i32, i64, i32) -> i64
    vm.return %r : i64
  }
  vm.func private @pack(%d: i64, %a: i32, %b: i64, %c: i32) -> i64
      attributes {inlining_policy = #util.inline.never} {
    %a64 = vm.ext.i32.i64.s %a : i32 -> i64
    %c64 = vm.ext.i32.i64.s %c : i32 -> i64
    %x = vm.sub.i64 %d, %a64 : i64
    %y = vm.xor.i64 %b, %c64 : i64
    %r = vm.mul.i64 %x, %y : i64
    vm.return %r : i64
  }

  vm.export @sum_to
  vm.func @sum_to(%n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %zero : i32, i32)
  ^head(%i: i32, %sum: i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body, ^done
  ^body:
    %i2 = vm.add.i32 %i, %one : i32
    %sum2 = vm.add.i32 %sum, %i2 : i32
    vm.br ^head(%i2, %sum2 : i32, i32)
  ^done:
    vm.return %sum : i32
  }

  vm.export @table
  vm.func @table(%i: i32) -> i32 {
    %ten = vm.const.i32 10
    %twenty = vm.const.i32 20
    %other = vm.const.i32 -1
    vm.br_table %i {
      default: ^out(%other : i32),
      0: ^out(%ten : i32),
      1: ^out(%twenty : i32)
    }
  ^out(%r: i32):
    vm.return %r : i32
  }

  vm.export @count
  vm.func @count(%by: i32) -> i32 {
    %old = vm.global.load.i32 @counter : i32
    %new = vm.add.i32 %old, %by : i32
    vm.global.store.i32 %new, @counter : i32
    vm.return %new : i32
  }

  vm.export @widen
  vm.func @widen(%by: i64) -> i64 {
    %old = vm.global.load.i64 @wide : i64
    %new = vm.add.i64 %old, %by : i64
    vm.global.store.i64 %new, @wide : i64
    vm.return %new : i64
  }

  vm.export @swap
  vm.func @swap(%n: i32, %a: i32, %b: i32) -> i32 {
    %one = vm.const.i32 1
    %zero = vm.const.i32 0
    vm.br ^head(%n, %a, %b : i32, i32, i32)
  ^head(%i: i32, %x: i32, %y: i32):
    %left = vm.sub.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %zero, %i : i32
    vm.cond_br %more, ^head(%left, %y, %x : i32, i32, i32), ^done(%x : i32)
  ^done(%r: i32):
    vm.return %r : i32
  }

  vm.export @list
  vm.func @list(%size: i32, %at: i32, %value: i32) -> i32 {
    %list = vm.list.alloc %size : (i32) -> !vm.list<i32>
    vm.list.resize %list, %size : (!vm.list<i32>, i32)
    vm.list.set.i32 %list, %at, %value : (!vm.list<i32>, i32, i32)
    %got = vm.list.get.i32 %list, %at : (!vm.list<i32>, i32) -> i32
    %length = vm.list.size %list : (!vm.list<i32>) -> i32
    %r = vm.add.i32 %got, %length : i32
    vm.return %r : i32
  }

  vm.export @keep
  vm.func @keep(%value: i32) -> i32 {
    %one = vm.const.i32 1
    %zero = vm.const.i32 0
    %old = vm.global.load.ref @kept : !vm.list<i32>
    %there = vm.cmp.nz.ref %old : !vm.list<i32>
    vm.cond_br %there, ^use, ^make
  ^make:
    %new = vm.list.alloc %one : (i32) -> !vm.list<i32>
    vm.list.resize %new, %one : (!vm.list<i32>, i32)
    vm.global.store.ref %new, @kept : !vm.list<i32>
    vm.br ^use
  ^use:
    %list = vm.global.load.ref @kept : !vm.list<i32>
    %before = vm.list.get.i32 %list, %zero : (!vm.list<i32>, i32) -> i32
    vm.list.set.i32 %list, %zero, %value : (!vm.list<i32>, i32, i32)
    vm.return %before : i32
  }

  vm.export @buffer
  vm.func @buffer(%length: i64, %at: i64, %value: i32) -> i32 {
    %align = vm.const.i32 16
    %buffer = vm.buffer.alloc %length, %align : !vm.buffer
    vm.buffer.store.i32 %value, %buffer[%at] : i32 -> !vm.buffer
    %got = vm.buffer.load.i32 %buffer[%at] : !vm.buffer -> i32
    vm.return %got : i32
  }

  vm.export @bytes
  vm.func @bytes(%at: i64) -> i32 {
    %text = vm.const.ref.rodata @text : !vm.buffer
    %a = vm.buffer.load.i8.u %text[%at] : !vm.buffer -> i32
    %b = vm.buffer.load.i8.s %text[%at] : !vm.buffer -> i32
    %shift = vm.const.i32 8
    %c = vm.shl.i32 %a, %shift : i32
    %r = vm.xor.i32 %c, %b : i32
    vm.return %r : i32
  }

  vm.export @hash
  vm.func @hash(%offset: i64, %length: i64) -> i64 {
    %text = vm.const.ref.rodata @text : !vm.buffer
    %r = vm.buffer.hash %text, %offset, %length : !vm.buffer -> i64
    vm.return %r : i64
  }

  vm.export @fill
  vm.func @fill(%length: i64, %value: i32) -> i64 {
    %align = vm.const.i32 16
    %zero = vm.const.i64 0
    %two = vm.const.i64 2
    %eight = vm.const.i64 8
    %buffer = vm.buffer.alloc %length, %align : !vm.buffer
    vm.buffer.fill.i16 %buffer, %two, %eight, %value : i32 -> !vm.buffer
    %copy = vm.buffer.clone %buffer, %zero, %length, %align : !vm.buffer -> !vm.buffer
    %same = vm.buffer.compare %buffer, %zero, %copy, %zero, %length : !vm.buffer, !vm.buffer
    %r = vm.buffer.hash %copy, %zero, %length : !vm.buffer -> i64
    %s = vm.ext.i32.i64.s %same : i32 -> i64
    %sum = vm.add.i64 %r, %s : i64
    vm.return %sum : i64
  }

  vm.export @write_constant
  vm.func @write_constant(%value: i32) {
    %text = vm.const.ref.rodata @text : !vm.buffer
    %zero = vm.const.i64 0
    vm.buffer.store.i32 %value, %text[%zero] : i32 -> !vm.buffer
    vm.return
  }

  vm.export @fail_with
  vm.func @fail_with(%code: i32) {
    vm.fail %code, "the program says no"
  }

  vm.export @forever
  vm.func @forever(%a: i32) -> i32 {
    vm.br ^loop(%a : i32)
  ^loop(%x: i32):
    %one = vm.const.i32 1
    %y = vm.add.i32 %x, %one : i32
    vm.br ^loop(%y : i32)
  }

  vm.export @yielding
  vm.func @yielding(%a: i32) -> i32 {
    %one = vm.const.i32 1
    %b = vm.add.i32 %a, %one : i32
    vm.yield ^next(%b : i32)
  ^next(%c: i32):
    %d = vm.add.i32 %c, %one : i32
    vm.yield ^last(%d : i32)
  ^last(%e: i32):
    vm.return %e : i32
  }
}
"""

CALLS = [
    ("mixed", (3, 1 << 40, -5, -(1 << 50))),
    ("sum_to", (1000,)),
    ("table", (0,)),
    ("table", (1,)),
    ("table", (2,)),
    ("table", (-1,)),
    ("swap", (0, 7, 9)),
    ("swap", (5, 7, 9)),
    ("list", (5, 2, 42)),
    ("buffer", (64, 15, -7)),
    ("bytes", (6,)),
    ("bytes", (0,)),
    ("hash", (0, 8)),
    ("hash", (1, 5)),
    ("fill", (40, 0x1234)),
]

REFUSED = [
    ("list", (5, 5, 1), "OUT_OF_RANGE"),
    ("list", (5, -1, 1), "OUT_OF_RANGE"),
    ("buffer", (64, 16, 1), "OUT_OF_RANGE"),
    ("bytes", (8,), "OUT_OF_RANGE"),
    ("hash", (4, 5), "OUT_OF_RANGE"),
    ("write_constant", (1,), "PERMISSION_DENIED"),
    ("fail_with", (3,), "INVALID_ARGUMENT"),
    ("fail_with", (13,), "INTERNAL"),
]


@pytest.fixture(scope="module")
def module() -> LoadedModule:
    return vm_session().load(compiled(PROGRAM, *VM_FLAGS))


@pytest.fixture(scope="module")
def theirs() -> IreeVm:
    return IreeVm(compiled(PROGRAM, *VM_FLAGS))


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_program_returns_what_irees_vm_returns(
    module: LoadedModule, theirs: IreeVm, name: str, arguments: tuple[int, ...]
) -> None:
    assert module.invoke(name, *arguments) == theirs.call(name, arguments)


@pytest.mark.parametrize(("name", "arguments", "status"), REFUSED)
def test_program_fails_as_in_irees_vm(
    module: LoadedModule, theirs: IreeVm, name: str, arguments: tuple[int, ...], status: str
) -> None:
    with pytest.raises(VmError) as ours:
        module.invoke(name, *arguments)
    assert ours.value.status == status
    with pytest.raises((RuntimeError, ValueError, IndexError)) as iree:
        theirs.call(name, arguments)
    assert ours.value.message in str(iree.value)


def test_globals_keep_their_values_between_calls_and_start_anew_in_each_module() -> None:
    data = compiled(PROGRAM, *VM_FLAGS)
    first = vm_session().load(data)
    assert [first.invoke("count", 2) for _ in range(3)] == [[7], [9], [11]]
    assert first.invoke("widen", 1 << 40) == [1 << 40]
    assert first.invoke("widen", 1) == [(1 << 40) + 1]
    assert [first.invoke("keep", n)[0] for n in (4, 5, 6)] == [0, 4, 5]
    assert vm_session().load(data).invoke("count", 0) == [5]


def test_a_yielding_function_stops_at_each_yield_and_goes_on(module: LoadedModule) -> None:
    invocation, _ = module.begin("yielding", 40)
    other, _ = module.begin("yielding", 0)
    steps = 0
    while not invocation.done:
        assert invocation.ready
        invocation.resume()
        if not other.done:
            other.resume()
        steps += 1
    assert (steps, invocation.results, other.results) == (3, [42], [2])


def test_a_program_that_never_ends_is_stopped_with_the_reason() -> None:
    session = Session(recording_device()[0], limits=Limits(instructions=10_000))
    module = session.load(compiled(PROGRAM, *VM_FLAGS))
    with pytest.raises(VmError, match=r"10000 instructions without finishing") as error:
        module.invoke("forever", 1)
    assert error.value.status == "RESOURCE_EXHAUSTED"
    assert "program.forever" in str(error.value)


def test_a_huge_host_buffer_is_refused(module: LoadedModule) -> None:
    with pytest.raises(VmError, match="over the limit"):
        module.invoke("buffer", 1 << 60, 0, 1)


def test_a_missing_function_is_reported_with_the_ones_there_are(module: LoadedModule) -> None:
    with pytest.raises(VmError, match="function 'main' not found in 'program'; there are: mixed"):
        module.invoke("main")


def test_a_wrong_number_of_arguments_is_reported(module: LoadedModule) -> None:
    with pytest.raises(VmError, match=r"'sum_to' takes 1 arguments \(i32\), 2 were given"):
        module.invoke("sum_to", 1, 2)


def test_an_array_where_a_number_is_expected_is_reported(module: LoadedModule) -> None:
    with pytest.raises(VmError, match=r"argument 0: a number \(i32\) is expected, str 'x'"):
        module.invoke("sum_to", "x")
