"""Random kernels in C++: nested branches and loops, many types, memories, and lanes that meet.

Every kernel is free of races, so that its result does not depend on the order of lanes: a thread
writes its own places only, reads others' places of threadgroup memory between two barriers, and
crosses lanes only by operations that are defined over the active lanes. Nothing is undefined that
clang could see: what the engines define beyond C++ is compared operation by operation elsewhere.
"""

from __future__ import annotations

from hypothesis import strategies as st

PARAMETERS = "in fin bytes out fout counts shared:threadgroup"
THREADS = 64  # of a threadgroup, two simdgroups
INTEGER_OUTPUTS, FLOAT_OUTPUTS = 8, 4  # 64-bit integers and floats that each thread writes
INPUTS, COUNTERS = 64, 8

_INTEGERS = {"int": "ij", "uint": "uv", "short": "s", "uchar": "c", "long": "l", "ulong": "m"}
_FLOATS = {"float": "fg", "half": "h", "bfloat": "b"}
_BINARY = ("+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>")
_COMPARE = ("<", "<=", "==", "!=", ">", ">=")
_FLOAT_BUILTINS = ("abs", "floor", "ceil", "trunc", "rint", "roundeven", "round", "sqrt")

_HEAD = """
typedef uint uint4 __attribute__((ext_vector_type(4)));
static inline long whole(float x) { return x > -1e9f && x < 1e9f ? (long)x : 0; }
KERNEL(DEVICE uint* in, DEVICE float* fin, DEVICE uchar* bytes, DEVICE ulong* out,
       DEVICE float* fout, DEVICE uint* counts, THREADGROUP uint* shared) {
    uint x = thread_x(), t = __assay_thread_index_in_threadgroup();
    int i = in[t & 63], j = x; uint u = in[(t + 7) & 63], v = 1; short s = t; uchar c = bytes[t];
    long l = (int)u; ulong m = ~0ul; float f = fin[t & 63], g = x; half h = g; bfloat b = f;
    int p[8] = {};
"""
_TAIL = """
    out[x * 8] = i; out[x * 8 + 1] = j; out[x * 8 + 2] = u; out[x * 8 + 3] = v;
    out[x * 8 + 4] = (ulong)s << 8 ^ c; out[x * 8 + 5] = l; out[x * 8 + 6] = m;
    ulong all = 0;
    for (int n = 0; n < 8; n++) all = all * 31 + p[n];
    out[x * 8 + 7] = all;
    fout[x * 4] = f; fout[x * 4 + 1] = g; fout[x * 4 + 2] = h; fout[x * 4 + 3] = b;
}
"""


class _Writer:
    """Writes one kernel; what it draws decides what it writes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._loops = 0
        self._returned = False  # whether some lanes may have ended

    def _pick(self, *choices: str) -> str:
        return self._draw(st.sampled_from(choices))

    def _number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    # -- expressions --------------------------------------------------------------------------

    def integer(self, depth: int, type_: str | None = None) -> str:
        """An expression of an integer type."""
        type_ = type_ or self._pick(*_INTEGERS)
        if depth <= 0:
            return self._integer_leaf(type_)
        kind = self._pick(
            "leaf", "binary", "binary", "compare", "choice", "extreme", "count", "load", "float"
        )
        if kind == "leaf":
            return self._integer_leaf(type_)
        if kind == "float":
            return f"({type_})whole((float){self.real(depth - 1)})"
        left = self.integer(depth - 1)
        if kind == "binary":
            op, right = self._pick(*_BINARY), self.integer(depth - 1)
            if op in ("<<", ">>"):
                right = f"({right} & 15)"
            elif op in ("/", "%"):
                right = f"({right} | 1)"
            return f"({type_})({left} {op} {right})"
        if kind == "compare":
            return f"({type_}){self.condition(depth - 1)}"
        if kind == "choice":
            return f"({type_})({self.condition(depth - 1)} ? {left} : {self.integer(depth - 1)})"
        if kind == "extreme":
            name = self._pick("min", "max", "add_sat", "sub_sat")
            right = self.integer(depth - 1)
            return f"__builtin_elementwise_{name}(({type_})({left}), ({type_})({right}))"
        if kind == "count":
            name = self._pick("popcount", "bitreverse")
            return f"({type_})__builtin_elementwise_{name}(({type_})({left}))"
        where = self._pick("in[{} & 63]", "bytes[{} & 63]", "p[{} & 7]", "in4[{} & 15].z")
        text = where.format(f"(uint)({left})").replace("in4", "((DEVICE uint4*)in)")
        return f"({type_})({text})"

    def _integer_leaf(self, type_: str) -> str:
        if self._draw(st.booleans()):
            return f"({type_}){self._pick(*_INTEGERS.values())[0]}"
        return f"({type_}){self._number(-3, 40)}"

    def real(self, depth: int, type_: str | None = None) -> str:
        """An expression of a floating-point type."""
        type_ = type_ or self._pick(*_FLOATS)
        kind = (
            "leaf"
            if depth <= 0
            else self._pick(
                "leaf", "binary", "binary", "fma", "builtin", "extreme", "integer", "load", "choice"
            )
        )
        if kind == "leaf":
            leaf = self._pick(*_FLOATS.values(), "0.5", "-3.0", "1e-3", "1e30")
            # There is no direct way between half and bfloat.
            return f"({type_})(float){leaf[0] if leaf[0].isalpha() else leaf}"
        if kind == "integer":
            return f"({type_})({self.integer(depth - 1)})"
        if kind == "load":
            return f"({type_})fin[(uint)({self.integer(depth - 1)}) & 63]"
        left, right = self.real(depth - 1, type_), self.real(depth - 1, type_)
        if kind == "binary":
            return f"({type_})({left} {self._pick('+', '-', '*', '/')} {right})"
        if kind == "choice":
            return f"({type_})({self.condition(depth - 1)} ? {left} : {right})"
        if type_ == "bfloat":  # these operations are for half and float
            return f"({type_})({left} - {right})"
        if kind == "builtin":
            return f"__builtin_elementwise_{self._pick(*_FLOAT_BUILTINS)}({left})"
        if kind == "extreme":
            return (
                f"__builtin_elementwise_{self._pick('minimumnum', 'maximumnum')}({left}, {right})"
            )
        return f"__builtin_elementwise_fma({left}, {right}, {self.real(depth - 1, type_)})"

    def condition(self, depth: int) -> str:
        """An expression of type bool."""
        compare = self._pick(*_COMPARE)
        kind = self._pick("integer", "integer", "float", "float", "uniform")
        if kind == "uniform":  # all lanes that are here agree
            return f"((int)in[{self._number(0, 63)}] {compare} {self._number(0, 9)})"
        if kind == "integer":
            return f"({self.integer(depth)} {compare} {self.integer(depth)})"
        type_ = self._pick(*_FLOATS)
        return f"({self.real(depth, type_)} {compare} {self.real(depth, type_)})"

    # -- statements ---------------------------------------------------------------------------

    def block(self, depth: int, *, uniform: bool, in_loop: bool = False) -> str:
        """Some statements in braces."""
        count = self._number(1, 4)
        lines = [self._statement(depth, uniform=uniform, in_loop=in_loop) for _ in range(count)]
        return "{\n" + "\n".join(lines) + "\n}"

    def _statement(self, depth: int, *, uniform: bool, in_loop: bool) -> str:
        kinds = ["integer", "integer", "float", "private", "vote", "reduce", "count"]
        if depth > 0:
            kinds += ["if", "if", "for", "while", "switch", "return", "search"]
            kinds += ["uniform for"] if uniform else []
        if in_loop:
            kinds += ["leave"]
        if uniform:
            kinds += ["share", "share"] + ([] if self._returned else ["shuffle"])
        kind = self._pick(*kinds)
        writer = getattr(self, "_write_" + kind.replace(" ", "_"))
        return writer(depth, uniform, in_loop)

    def _write_integer(self, depth: int, uniform: bool, in_loop: bool) -> str:
        type_ = self._pick(*_INTEGERS)
        return f"{self._pick(*_INTEGERS[type_])} = {self.integer(2, type_)};"

    def _write_float(self, depth: int, uniform: bool, in_loop: bool) -> str:
        type_ = self._pick(*_FLOATS)
        return f"{self._pick(*_FLOATS[type_])} = {self.real(2, type_)};"

    def _write_private(self, depth: int, uniform: bool, in_loop: bool) -> str:
        return f"p[(uint)({self.integer(1)}) & 7] = {self.integer(1)};"

    def _write_vote(self, depth: int, uniform: bool, in_loop: bool) -> str:
        if self._draw(st.booleans()):
            return f"m = __assay_simd_ballot({self.condition(1)});"
        return f"i = __assay_simd_broadcast_first_i32({self.integer(1, 'int')});"

    def _write_reduce(self, depth: int, uniform: bool, in_loop: bool) -> str:
        cluster = self._pick("32", "32", "4")
        if self._draw(st.booleans()):
            name = self._pick(
                "sum", "min", "max", "prefix_inclusive_sum", "prefix_exclusive_product"
            )
            return f"j = __assay_simd_{name}_i32({self.integer(1, 'int')}, {cluster});"
        name = self._pick("sum", "product", "min", "max", "prefix_inclusive_sum")
        # Adding 0 leaves no -0: which of two zeros is the smaller is nobody's promise.
        return f"g = __assay_simd_{name}_f32({self.real(1, 'float')} + 0.0f, {cluster});"

    def _write_count(self, depth: int, uniform: bool, in_loop: bool) -> str:
        # Additions commute, and nobody looks before the end.
        place = f"counts + ((uint)({self.integer(1)}) & 7)"
        return f"__assay_atomic_add_u32((uint*)({place}), {self.integer(1, 'uint')});"

    def _write_share(self, depth: int, uniform: bool, in_loop: bool) -> str:
        value, other = self.integer(1, "uint"), self.integer(1, "uint")
        return f"shared[t] = {value}; barrier(); u = shared[({other}) & 63]; barrier();"

    def _write_shuffle(self, depth: int, uniform: bool, in_loop: bool) -> str:
        value, other = self.integer(1, "int"), self.integer(1, "uint")
        return f"i = __assay_simd_shuffle_i32({value}, {other});"

    def _write_if(self, depth: int, uniform: bool, in_loop: bool) -> str:
        text = f"if {self.condition(1)} {self.block(depth - 1, uniform=False, in_loop=in_loop)}"
        if self._draw(st.booleans()):
            text += f" else {self.block(depth - 1, uniform=False, in_loop=in_loop)}"
        return text

    def _loop_variable(self) -> str:
        self._loops += 1
        return f"n{self._loops}"

    def _write_for(self, depth: int, uniform: bool, in_loop: bool) -> str:
        n, trips = self._loop_variable(), self.integer(1, "uint")
        body = self.block(depth - 1, uniform=False, in_loop=True)
        return f"for (uint {n} = 0, {n}e = ({trips}) & 3; {n} < {n}e; {n}++) {body}"

    def _write_uniform_for(self, depth: int, uniform: bool, in_loop: bool) -> str:
        n = self._loop_variable()
        body = self.block(depth - 1, uniform=True)
        return f"for (uint {n} = 0; {n} < (in[0] & 3); {n}++) {body}"

    def _write_while(self, depth: int, uniform: bool, in_loop: bool) -> str:
        n = self._loop_variable()
        body = self.block(depth - 1, uniform=False, in_loop=True)
        return f"uint {n} = 0; while ({n}++ < 4 && {self.condition(1)}) {body}"

    def _write_search(self, depth: int, uniform: bool, in_loop: bool) -> str:
        """A loop with ways out that do things of their own and come together one by one."""
        n = self._loop_variable()
        looking, *after = (self.block(depth - 1, uniform=False) for _ in range(4))
        goals = [self._pick(f"{n}a", f"{n}b") for _ in range(2)]
        tests = [
            self._pick(self.condition(1), f"(in[{n} + {self._number(0, 59)}] & 1)")
            for _ in range(3)
        ]
        return (
            f"{{ uint {n} = 0; do {{ if ({tests[0]}) {{ c ^= {n}; goto {goals[0]}; }} "
            f"if ({tests[1]}) {{ v += {n}; goto {goals[1]}; }} {looking} }} "
            f"while ({n}++ < 4 && {tests[2]}); {after[0]} goto {n}e; "
            f"{n}a: {after[1]} {n}b: {after[2]} {n}e:; }}"
        )

    def _write_switch(self, depth: int, uniform: bool, in_loop: bool) -> str:
        cases = []
        for case in range(self._number(1, 3)):
            body = self.block(depth - 1, uniform=False)
            cases.append(f"case {case}: {body} {self._pick('break;', '')}")
        return f"switch ((uint)({self.integer(1)}) & 3) {{ {' '.join(cases)} default: v ^= 5; }}"

    def _write_return(self, depth: int, uniform: bool, in_loop: bool) -> str:
        self._returned = True
        return f"if {self.condition(1)} {{ out[x * 8] = 77; return; }}"

    def _write_leave(self, depth: int, uniform: bool, in_loop: bool) -> str:
        return f"if {self.condition(1)} {self._pick('break', 'continue')};"


@st.composite
def structured_kernels(draw: st.DrawFn) -> str:
    """The C++ source of a kernel with the parameters `PARAMETERS`."""
    writer = _Writer(draw)
    return _HEAD + writer.block(2, uniform=True) + _TAIL
