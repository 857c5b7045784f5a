"""Random kernels as LLVM IR."""

from __future__ import annotations

from .random_kernels import ARRAYS, VARIABLES, RandomKernel, Tree

PARAMETERS = "sizes data"
_HEAD = """
@array0 = external addrspace(3) global [65536 x i32], align 16
@array1 = external addrspace(3) global [65536 x i32], align 16
declare i32 @__assay_thread_index_in_threadgroup() #0
declare i32 @__assay_thread_index_in_simdgroup() #0
declare i32 @__assay_simdgroup_index_in_threadgroup() #0
declare void @__assay_threadgroup_barrier(i32) #1
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
attributes #0 = { nounwind memory(none) }
attributes #1 = { convergent nounwind }
define void @kernel_entry(ptr addrspace(1) %sizes, ptr addrspace(1) %data) {
entry:
  %t = call i32 @__assay_thread_index_in_threadgroup()
  %lane = call i32 @__assay_thread_index_in_simdgroup()
  %sg = call i32 @__assay_simdgroup_index_in_threadgroup()
  %n = load i32, ptr addrspace(1) %sizes, align 4
  %m.at = getelementptr i32, ptr addrspace(1) %sizes, i64 1
  %m = load i32, ptr addrspace(1) %m.at, align 4
"""


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.slots: list[str] = [f"v{at}" for at in range(VARIABLES)]
        self._names = 0
        self._around: list[tuple[str, str]] = []  # where `continue` and `break` lead

    def name(self) -> str:
        self._names += 1
        return f"%x{self._names}"

    def put(self, operation: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {operation}")
        return name

    def block(self, statements: tuple[Tree, ...]) -> bool:
        """Write statements; whether control goes on behind them."""
        return all(self.statement(each) for each in statements)

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def go(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def statement(self, tree: Tree) -> bool:
        match tree:
            case ("set", variable, value):
                self.lines.append(f"  store i32 {self.number(value)}, ptr %v{variable}")
            case ("store", _, array, index, value, wide):
                at, what = self.address(array, index), self.number(value)
                if wide:
                    low = self.put(f"zext i32 {what} to i64")
                    self.lines.append(f"  store i64 {low}, ptr addrspace(3) {at}, align 4")
                else:
                    self.lines.append(f"  store i32 {what}, ptr addrspace(3) {at}, align 4")
            case ("load", _, variable, array, index):
                found = self.put(
                    f"load volatile i32, ptr addrspace(3) {self.address(array, index)}, align 4"
                )
                self.lines.append(f"  store i32 {found}, ptr %v{variable}")
            case ("barrier", _, flags):
                self.lines.append(f"  call void @__assay_threadgroup_barrier(i32 {flags})")
            case ("for", number, name, start, predicate, bound, step, body):
                self.loop(number, name, self.number(start), body, (predicate, bound), step)
            case ("halve", number, name, start, body):
                self.loop(number, name, str(start), body, None, 0)
            case ("if", condition, yes, no):
                self.choice(condition, yes, no)
            case ("return",):
                self.lines.append("  ret void")
                return False
            case ("break",) | ("continue",):
                self.go(self._around[-1][tree[0] == "break"])
                return False
        return True

    def address(self, array: int, index: Tree) -> str:
        wide = self.put(f"zext i32 {self.number(index)} to i64")
        return self.put(f"getelementptr i32, ptr addrspace(3) @array{array}, i64 {wide}")

    def choice(self, condition: Tree, yes: tuple[Tree, ...], no: tuple[Tree, ...]) -> None:
        at = self._names = self._names + 1
        self.lines.append(f"  br i1 {self.condition(condition)}, label %yes{at}, label %no{at}")
        for label, body in ((f"yes{at}", yes), (f"no{at}", no)):
            self.label(label)
            if self.block(body):
                self.go(f"end{at}")
        self.label(f"end{at}")

    def loop(
        self,
        number: int,
        name: str,
        start: str,
        body: tuple[Tree, ...],
        test: tuple[str, Tree] | None,
        step: int,
    ) -> None:
        self.slots.append(name)
        self.lines.append(f"  store i32 {start}, ptr %{name}")
        self.go(f"head{number}")
        self.label(f"head{number}")
        value = self.put(f"load i32, ptr %{name}")
        if test is None:
            goes = self.put(f"icmp ne i32 {value}, 0")
        else:
            goes = self.put(f"icmp {test[0]} i32 {value}, {self.number(test[1])}")
        self.lines.append(f"  br i1 {goes}, label %body{number}, label %done{number}")
        self.label(f"body{number}")
        self._around.append((f"next{number}", f"done{number}"))
        if self.block(body):
            self.go(f"next{number}")
        self._around.pop()
        self.label(f"next{number}")
        old = self.put(f"load i32, ptr %{name}")
        new = self.put(f"lshr i32 {old}, 1" if test is None else f"add i32 {old}, {step}")
        self.lines.append(f"  store i32 {new}, ptr %{name}")
        self.go(f"head{number}")
        self.label(f"done{number}")

    def number(self, tree: Tree) -> str:
        match tree:
            case ("const", value):
                return str(value)
            case ("var", variable):
                return self.put(f"load i32, ptr %v{variable}")
            case ("loop", name):
                return self.put(f"load i32, ptr %{name}")
            case ("bin", op, left, right):
                return self.put(f"{op} i32 {self.number(left)}, {self.number(right)}")
            case ("call", name, left, right):
                operands = f"i32 {self.number(left)}, i32 {self.number(right)}"
                return self.put(f"call i32 @llvm.{name}.i32({operands})")
            case ("select", condition, yes, no):
                chosen = self.condition(condition)
                return self.put(
                    f"select i1 {chosen}, i32 {self.number(yes)}, i32 {self.number(no)}"
                )
            case ("data", index):
                inside = self.put(f"and i32 {self.number(index)}, 15")
                at = self.put(f"getelementptr i32, ptr addrspace(1) %data, i32 {inside}")
                return self.put(f"load i32, ptr addrspace(1) {at}, align 4")
        return f"%{tree[0]}"

    def condition(self, tree: Tree) -> str:
        if tree[0] == "compare":
            _, predicate, left, right = tree
            return self.put(f"icmp {predicate} i32 {self.number(left)}, {self.number(right)}")
        op, left, right = tree
        return self.put(f"{op} i1 {self.condition(left)}, {self.condition(right)}")


def text(kernel: RandomKernel) -> str:
    """The module of a kernel, whose entry takes `PARAMETERS`."""
    writer = _Writer()
    if writer.block(kernel.body):
        writer.lines.append("  ret void")
    slots = [f"  %{name} = alloca i32" for name in writer.slots]
    begin = [f"  store i32 0, ptr %v{at}" for at in range(VARIABLES)]
    assert ARRAYS == 2
    return "\n".join([_HEAD, *slots, *begin, *writer.lines, "}"])
