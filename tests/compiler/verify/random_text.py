"""Random kernels as LLVM IR. The line of each access is its statement's number."""

from __future__ import annotations

import re

from .random_kernels import ARRAYS, BUFFERS, TYPES, VARIABLES, Memory, RandomKernel, Tree

PARAMETERS = " ".join(("n", "m", "data", *BUFFERS))
_BUFFER = "ptr addrspace(1)"
_ACROSS = {
    "shuffle": "i32 @__assay_simd_shuffle_i32(i32 {0}, i32 {1})",
    "first": "i32 @__assay_simd_broadcast_first_i32(i32 {0})",
    "sum": "i32 @__assay_simd_sum_u32(i32 {0}, i32 32)",
    "min": "i32 @__assay_simd_min_u32(i32 {0}, i32 32)",
    "max": "i32 @__assay_simd_max_u32(i32 {0}, i32 32)",
    "or": "i32 @__assay_simd_or_u32(i32 {0}, i32 32)",
    "ballot": "i64 @__assay_simd_ballot(i32 {0})",
}
_ATOMICS = ("add", "max", "or", "xchg")
_POSITIONS = {
    "t": "thread_index_in_threadgroup()",
    "lane": "thread_index_in_simdgroup()",
    "sg": "simdgroup_index_in_threadgroup()",
    "x": "thread_position_in_threadgroup(i32 0)",
    "y": "thread_position_in_threadgroup(i32 1)",
    "gx": "threadgroup_position_in_grid(i32 0)",
    "gy": "threadgroup_position_in_grid(i32 1)",
    "px": "thread_position_in_grid(i32 0)",
    "py": "thread_position_in_grid(i32 1)",
    "groups": "threadgroups_per_grid(i32 0)",
}


_ASKED = ("px", "py")  # of dimensions that nobody asks about, proofs take it that there is one


def _head(words: int) -> list[str]:
    """A line for all that may be used."""
    arrays = [
        f"@array{at} = external addrspace(3) global [{words} x i32], align 16"
        for at in range(ARRAYS)
    ]
    positions = {
        each.replace("i32 0", "i32").replace("i32 1", "i32") for each in _POSITIONS.values()
    }
    across = [each.replace(" {0}", "").replace(" {1}", "") for each in _ACROSS.values()]
    across = [each.replace("i32 32", "i32") for each in across]
    atomics = [f"i32 @__assay_atomic_{op}_u32(ptr, i32)" for op in _ATOMICS]
    calls = ("umin", "umax", "smin", "usub.sat")
    return [
        *arrays,
        *(f"declare i32 @__assay_{each} #0" for each in sorted(positions)),
        "declare void @__assay_threadgroup_barrier(i32) #1",
        "declare void @__assay_simdgroup_barrier(i32) #1",
        *(f"declare {each} #1" for each in across),
        *(f"declare {each} #2" for each in atomics),
        "declare i32 @__assay_atomic_load_u32(ptr) #2",
        "declare void @__assay_atomic_store_u32(ptr, i32) #2",
        *(f"declare i32 @llvm.{each}.i32(i32, i32)" for each in calls),
    ]


_TAIL = """
attributes #0 = { nounwind memory(none) }
attributes #1 = { convergent nounwind }
attributes #2 = { nounwind "no-builtins" }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, emissionKind: LineTablesOnly)
!1 = distinct !DISubprogram(name: "k", file: !2, line: 1, unit: !0, spFlags: DISPFlagDefinition)
!2 = !DIFile(filename: "random.metal", directory: "")
!3 = !{i32 2, !"Debug Info Version", i32 3}
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

    def put(self, operation: str, line: int | None = None) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {operation}{_at(line)}")
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
            case ("store", number, array, index, value, wide):
                self.write(number, array, 4, index, value, "i64" if wide else "i32")
            case ("load", number, variable, array, index):
                self.read(number, variable, array, 4, index, "i32")
            case ("put", number, memory, scale, index, value, kind):
                self.write(number, memory, scale, index, value, kind)
            case ("get", number, variable, memory, scale, index, kind):
                self.read(number, variable, memory, scale, index, kind)
            case ("atomic", *_):
                self.atomic(tree)
            case ("lanes", op, variable, value, other):
                self.across(op, variable, self.number(value), self.number(other))
            case ("barrier", _, flags):
                self.lines.append(f"  call void @__assay_threadgroup_barrier(i32 {flags})")
            case ("simdgroup_barrier", flags):
                self.lines.append(f"  call void @__assay_simdgroup_barrier(i32 {flags})")
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

    # -- memory -----------------------------------------------------------------------------------

    def write(
        self, line: int, memory: Memory, scale: int, index: Tree, value: Tree, kind: str
    ) -> None:
        at, what = self.address(memory, scale, index), self.number(value)
        component, count = TYPES[kind]
        type_ = f"i{8 * component}"
        if component != 4:
            what = self.put(f"{'zext' if component > 4 else 'trunc'} i32 {what} to {type_}")
        if count > 1:
            vector, filled = f"<{count} x {type_}>", "undef"
            for place in range(count):
                filled = self.put(f"insertelement {vector} {filled}, {type_} {what}, i32 {place}")
            type_, what = vector, filled
        space = f"{_space(memory)} {at}, align {min(component, 4)}"
        self.lines.append(f"  store {type_} {what}, {space}{_at(line)}")

    def read(
        self, line: int, variable: int, memory: Memory, scale: int, index: Tree, kind: str
    ) -> None:
        component, count = TYPES[kind]
        type_ = f"i{8 * component}"
        whole = type_ if count == 1 else f"<{count} x {type_}>"
        space = f"{_space(memory)} {self.address(memory, scale, index)}"
        found = self.put(f"load volatile {whole}, {space}, align {min(component, 4)}", line)
        if count > 1:
            found = self.put(f"extractelement {whole} {found}, i32 0")
        if component != 4:
            found = self.put(f"{'trunc' if component > 4 else 'zext'} {type_} {found} to i32")
        self.lines.append(f"  store i32 {found}, ptr %v{variable}")

    def atomic(self, tree: Tree) -> None:
        _, line, op, variable, memory, index, value = tree
        at = self.address(memory, 4, index)
        at = self.put(f"addrspacecast {_space(memory)} {at} to ptr")
        if op == "store":
            operand = self.number(value)
            call = f"call void @__assay_atomic_store_u32(ptr {at}, i32 {operand})"
            self.lines.append(f"  {call}{_at(line)}")
            return
        operands = f"ptr {at}" if op == "load" else f"ptr {at}, i32 {self.number(value)}"
        found = self.put(f"call i32 @__assay_atomic_{op}_u32({operands})", line)
        self.lines.append(f"  store i32 {found}, ptr %v{variable}")

    def address(self, memory: Memory, scale: int, index: Tree) -> str:
        wide = self.put(f"zext i32 {self.number(index)} to i64")
        offset = wide if scale == 1 else self.put(f"mul i64 {wide}, {scale}")
        base = f"@array{memory}" if isinstance(memory, int) else f"%{memory}"
        return self.put(f"getelementptr i8, {_space(memory)} {base}, i64 {offset}")

    def across(self, op: str, variable: int, value: str, other: str) -> None:
        if op == "ballot":
            value = self.put(f"and i32 {value}, 1")
        found = self.put("call " + _ACROSS[op].format(value, other))
        if op == "ballot":
            found = self.put(f"trunc i64 {found} to i32")
        self.lines.append(f"  store i32 {found}, ptr %v{variable}")

    # -- control ----------------------------------------------------------------------------------

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

    # -- values -----------------------------------------------------------------------------------

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
            case ("fn", number, left, right):
                operands = f"i32 {self.number(left)}, i32 {self.number(right)}"
                return self.put(f"call i32 @help{number}({operands})", 1)
            case ("select", condition, yes, no):
                chosen = self.condition(condition)
                return self.put(
                    f"select i1 {chosen}, i32 {self.number(yes)}, i32 {self.number(no)}"
                )
            case ("data", index):
                inside = self.put(f"and i32 {self.number(index)}, 15")
                at = self.put(f"getelementptr i32, {_BUFFER} %data, i32 {inside}")
                return self.put(f"load i32, {_BUFFER} {at}, align 4")
            case ("n",) | ("m",):
                return f"%{tree[0]}.value"
        return f"%{tree[0]}"

    def condition(self, tree: Tree) -> str:
        if tree[0] == "compare":
            _, predicate, left, right = tree
            return self.put(f"icmp {predicate} i32 {self.number(left)}, {self.number(right)}")
        op, left, right = tree
        return self.put(f"{op} i1 {self.condition(left)}, {self.condition(right)}")


def _at(line: int | None) -> str:
    return "" if line is None else f", !dbg !DILocation(line: {line}, scope: !1)"


def _space(memory: Memory) -> str:
    return "ptr addrspace(3)" if isinstance(memory, int) else _BUFFER


def _helper(number: int, tree: Tree) -> str:
    writer = _Writer()
    result = writer.number(tree)
    body = "\n".join(writer.lines)
    return (
        f"define internal i32 @help{number}(i32 %a, i32 %b) #2 {{\n{body}\n  ret i32 {result}\n}}"
    )


def text(kernel: RandomKernel) -> str:
    """The module of a kernel, whose entry takes `PARAMETERS`."""
    writer = _Writer()
    if writer.block(kernel.body):
        writer.lines.append("  ret void")
    names = PARAMETERS.split()
    signature = ", ".join(f"{_BUFFER} %{name}" for name in names)
    body = "\n".join(writer.lines)
    used = set(re.findall(r"%[\w.]+", body))
    begin = [
        *(
            f"  %{name} = call i32 @__assay_{what}"
            for name, what in _POSITIONS.items()
            if f"%{name}" in used or name in _ASKED
        ),
        *(
            f"  %{name}.value = load i32, {_BUFFER} %{name}, align 4"
            for name in ("n", "m")
            if f"%{name}.value" in used
        ),
        *(f"  %{name} = alloca i32" for name in writer.slots),
        *(f"  store i32 0, ptr %v{at}" for at in range(VARIABLES)),
    ]
    helpers = (
        _helper(at, tree) for at, tree in enumerate(kernel.functions) if f"@help{at}(" in body
    )
    defined = "\n".join(
        [
            *helpers,
            f"define void @kernel_entry({signature}) #2 !dbg !1 {{\nentry:",
            *begin,
            body,
            "}",
        ]
    )
    called = set(re.findall(r"@[\w.]+", defined))
    head = (each for each in _head(kernel.words) if called & set(re.findall(r"@[\w.]+", each)))
    return "\n".join([*head, defined, _TAIL])
