"""Instructions of the published tables as chains in MSL, one template for all of them.

A chain is a variable that each step changes; steps of one chain depend on each other, chains do
not. What a step does is written once, in `STEPS`, for a variable `x` and an operand `p` of its type
that is not the same from step to step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

# Type of the variable, and the step. {x} variable, {y} a second one that the step also changes (a
# Fibonacci pair keeps the compiler from gathering what repeats), {p} {q} operands.
_ADD = "{x} = {x} + {y}; {y} = {y} + {x};"
_MULTIPLY = "{x} = {x} * {y}; {y} = {y} * {x};"
_SELECT = "{x} = {x} > {p} ? {y} : {x}; {y} = {y} > {q} ? {x} : {y};"

STEPS: dict[str, tuple[str, str]] = {
    "FADD16": ("half", "{x} = {x} + {p};"),
    "FMUL16": ("half", "{x} = {x} * {p};"),
    "FFMA16": ("half", "{x} = fma({x}, {p}, {q});"),
    "FADD32": ("float", "{x} = {x} + {p};"),
    "FMUL32": ("float", "{x} = {x} * {p};"),
    "FFMA32": ("float", "{x} = fma({x}, {p}, {q});"),
    "CONVERT(F->I32)": ("float", "{x} = as_type<float>(int({x}));"),
    "CONVERT(F->I64)": ("float", "{x} = as_type<float2>(long({x})).x;"),
    "RINT32": ("float", "{x} = rint({x} + {p});"),
    "TRUNC32": ("float", "{x} = trunc({x} + {p});"),
    "FRACT32": ("float", "{x} = fract({x});"),
    "ROUND_INF": ("float", "{x} = ::metal::round({x} + {p});"),
    "RECIP16": ("half", "{x} = 1.0h / {x};"),
    "RECIP32": ("float", "{x} = fast::divide(1.0f, {x});"),
    "RSQRT16": ("half", "{x} = rsqrt({x});"),
    "RSQRT32": ("float", "{x} = fast::rsqrt({x});"),
    "EXP2_16": ("half", "{x} = exp2({x});"),
    "LOG2_16": ("half", "{x} = log2({x});"),
    "EXP2_32": ("float", "{x} = fast::exp2({x});"),
    "LOG2_32": ("float", "{x} = fast::log2({x});"),
    "EXPE_32": ("float", "{x} = fast::exp({x});"),
    "LOGE_32": ("float", "{x} = fast::log({x});"),
    "EXP10_32": ("float", "{x} = fast::exp10({x});"),
    "LOG10_32": ("float", "{x} = fast::log10({x});"),
    "FMAX32": ("float", "{x} = fmax({x}, {p});"),
    "FMIN32": ("float", "{x} = fmin({x}, {p});"),
    "FCMPSEL16": ("half", _SELECT),
    "FCMPSEL32": ("float", _SELECT),
    "FMEDIAN16": ("half", "{x} = median3({p}, {q}, {x});"),
    "FMEDIAN32": ("float", "{x} = median3({p}, {q}, {x});"),
    "DIV16": ("half", "{x} = {p} / {x};"),
    "DIV32": ("float", "{x} = fast::divide({p}, {x});"),
    "SQRT16": ("half", "{x} = sqrt({x});"),
    "SQRT32": ("float", "{x} = fast::sqrt({x});"),
    "SIN16": ("half", "{x} = sin({x});"),
    "SINPI16": ("half", "{x} = sinpi({x});"),
    "SIN32": ("float", "{x} = fast::sin({x});"),
    "COS32": ("float", "{x} = fast::cos({x});"),
    "SINPI32": ("float", "{x} = fast::sinpi({x});"),
    "POW32": ("float", "{x} = fast::pow({x}, {p});"),
    "Precise EXPE_32": ("float", "{x} = precise::exp({x});"),
    "Precise EXP2_32": ("float", "{x} = precise::exp2({x});"),
    "Precise LOG2_32": ("float", "{x} = precise::log2({x});"),
    "Precise RSQRT32": ("float", "{x} = precise::rsqrt({x});"),
    "Precise RECIP32": ("float", "{x} = precise::divide(1.0f, {x});"),
    "Precise DIV32": ("float", "{x} = precise::divide({p}, {x});"),
    "Precise SQRT32": ("float", "{x} = precise::sqrt({x});"),
    "Precise SIN32": ("float", "{x} = precise::sin({x});"),
    "Precise SINPI32": ("float", "{x} = precise::sinpi({x});"),
    "Precise POW32": ("float", "{x} = precise::pow({x}, {p});"),
    "IADD16": ("short", _ADD),
    "IMUL16": ("short", _MULTIPLY),
    "IMAD16": ("short", "{x} = short({x} * {p} + {q});"),
    "IMUL(16x16=32)": (
        "int",
        "{x} = int(short({x})) * int(short({y})); {y} = int(short({y})) * int(short({x}));",
    ),
    "IMAD((16x16=32)+32)": ("int", "{x} = int(short({x})) * int({ps}) + {q};"),
    "IMADHI16": ("short", "{x} = short(((int({x}) * int({p})) >> 16) + {q});"),
    "IADD32": ("int", _ADD),
    "IMUL32": ("int", _MULTIPLY),
    "IMAD32": ("int", "{x} = {x} * {p} + {q};"),
    "IMULHI32": ("int", "{x} = mulhi({x}, {p});"),
    "IMADHI32": ("int", "{x} = mulhi({x}, {p}) + {q};"),
    "IMUL(32x32=64)": ("ulong", "{x} = ulong(uint({x} ^ ({x} >> 32))) * ulong(uint({pi}));"),
    "IADDSAT32": ("int", "{x} = addsat({x}, {p});"),
    "BITEXTRACT32": ("uint", "{x} = extract_bits({x} + uint({pi}), 3u, 27u);"),
    "BITINSERT32": ("uint", "{x} = insert_bits({x} + uint({pi}), {x}, 5, 5);"),
    "BITINSERT32 + ADD32": ("uint", "{x} = insert_bits({x} + uint({pi}), {x}, 5, 5);"),
    "BITWISE32 + ADD32": ("uint", "{x} = ({x} ^ uint({pi})) + {x};"),
    "RINT32 + FADD32": ("float", "{x} = rint({x} + {p});"),
    "RINT32 + BITWISE32": (
        "float",
        "{x} = as_type<float>(as_type<uint>(rint({x})) ^ uint({pi}));",
    ),
    "BITREV32": ("uint", "{x} = reverse_bits({x} + uint({pi}));"),
    "BITREV16": ("ushort", "{x} = reverse_bits(ushort({x} + ushort({ps})));"),
    "POPCOUNT32": ("uint", "{x} = popcount({x});"),
    "CLZ32": ("uint", "{x} = clz({x} + uint({pi}));"),
    "IMAX32": ("int", "{x} = max({x}, {p});"),
    "IMIN32": ("int", "{x} = min({x}, {p});"),
    "ICMPSEL16": ("short", _SELECT),
    "ICMPSEL32": ("int", _SELECT),
    "BITROTATE32": ("uint", "{x} = rotate({x}, uint({pi}));"),
    "RHADD16": ("short", "{x} = rhadd({x}, {p});"),
    "RHADD32": ("int", "{x} = rhadd({x}, {p});"),
    "LSHIFT32": ("uint", "{x} = {x} << uint({pi});"),
    "RSHIFT32": ("int", "{x} = {x} >> {p};"),
    "ABSDIFF32": ("uint", "{x} = absdiff({x}, uint({pi}));"),
    "IADD(32+32=64)": ("ulong", "{x} = ulong(uint({x})) + ulong(uint({x} >> 32));"),
    "IADD(64+32=64)": ("ulong", "{x} = {x} + ulong(uint({x}));"),
    "IADD(64+64=64)": ("ulong", _ADD),
    "IMUL(64x64=64)": ("ulong", _MULTIPLY),
    "IMAD((32x32=32)+64)": ("ulong", "{x} = ulong(uint({x}) * uint({pi})) + {x};"),
    "IMAD((32x32=64)+64)": ("ulong", "{x} = ulong(uint({x})) * ulong(uint({pi})) + {x};"),
    "IMAD((64x64=64)+64)": ("ulong", "{x} = {x} * {y} + {x}; {y} = {y} * {x} + {y};"),
    "IMULHI64": ("ulong", "{x} = mulhi({x}, {y}); {y} = mulhi({y}, {x});"),
    "IDIV32": ("int", "{x} = {p} / ({x} | 1);"),
    "BALLOT": ("uint", "{x} = uint(ulong(simd_ballot({x} != 0)));"),
    "ICMP_BALLOT": ("uint", "{x} = uint(ulong(simd_ballot({x} > uint({pi}))));"),
    "FCMP_BALLOT": ("float", "{x} = as_type<float>(uint(ulong(simd_ballot({x} > {p}))));"),
    "BROADCAST32": ("uint", "{x} = simd_broadcast({x}, 5);"),
    "SHUFFLE_ROTATE32": ("uint", "{x} = simd_shuffle_rotate_down({x}, 1);"),
    "SHUFFLE_NOROTATE32": ("uint", "{x} = simd_shuffle_down({x}, 1);"),
    "SHUFFLE_XOR32": ("uint", "{x} = simd_shuffle_xor({x}, 1);"),
    "SHUFFLE_RANDOM_SAME32": ("uint", "{x} = simd_shuffle({x}, ushort({pi} & 31));"),
    "SHUFFLE_RANDOM_DIFF32": ("uint", "{x} = simd_shuffle({x}, ushort({x} & 31));"),
    "SUM<F16>": ("half", "{x} = simd_sum({x});"),
    "SUM<F32>": ("float", "{x} = simd_sum({x});"),
    "SUM<I16>": ("short", "{x} = simd_sum({x});"),
    "SUM<I32>": ("int", "{x} = simd_sum({x});"),
    "PRODUCT<F16>": ("half", "{x} = simd_product({x});"),
    "PRODUCT<F32>": ("float", "{x} = simd_product({x});"),
    "PRODUCT<I16>": ("short", "{x} = simd_product({x});"),
    "PRODUCT<I32>": ("int", "{x} = simd_product({x});"),
    "BITWISE_REDUCE16": ("short", "{x} = simd_xor({x});"),
    "BITWISE_REDUCE32": ("int", "{x} = simd_xor({x});"),
    "PREFIX_ESUM<F32>": ("float", "{x} = simd_prefix_exclusive_sum({x});"),
    "PREFIX_ISUM<F32>": ("float", "{x} = simd_prefix_inclusive_sum({x});"),
    "PREFIX_ESUM<I32>": ("int", "{x} = simd_prefix_exclusive_sum({x});"),
    "PREFIX_ISUM<I32>": ("int", "{x} = simd_prefix_inclusive_sum({x});"),
    "PREFIX_EPROD<F32>": ("float", "{x} = simd_prefix_exclusive_product({x});"),
    "PREFIX_IPROD<F32>": ("float", "{x} = simd_prefix_inclusive_product({x});"),
    "Quad BROADCAST32": ("uint", "{x} = quad_broadcast({x}, 2);"),
    "Quad SHUFFLE_ROTATE32": ("uint", "{x} = quad_shuffle_rotate_down({x}, 1);"),
    "Quad SHUFFLE_DOWNUP32": ("uint", "{x} = quad_shuffle_down({x}, 1);"),
    "Quad SHUFFLE_RANDOM_SAME32": ("uint", "{x} = quad_shuffle({x}, ushort({pi} & 3));"),
    "Quad SHUFFLE_RANDOM_DIFF32": ("uint", "{x} = quad_shuffle({x}, ushort({pi} & 3));"),
    "Quad SUM<F16>": ("half", "{x} = quad_sum({x});"),
    "Quad SUM<F32>": ("float", "{x} = quad_sum({x});"),
    "Quad SUM<I16>": ("short", "{x} = quad_sum({x});"),
    "Quad SUM<I32>": ("int", "{x} = quad_sum({x});"),
    "Quad PRODUCT<F16>": ("half", "{x} = quad_product({x});"),
    "Quad PRODUCT<F32>": ("float", "{x} = quad_product({x});"),
    "Quad PRODUCT<I16>": ("short", "{x} = quad_product({x});"),
    "Quad PRODUCT<I32>": ("int", "{x} = quad_product({x});"),
    "Quad BITWISE_REDUCE16": ("short", "{x} = quad_xor({x});"),
    "Quad BITWISE_REDUCE32": ("int", "{x} = quad_xor({x});"),
    "Quad PREFIX_ESUM<F32>": ("float", "{x} = quad_prefix_exclusive_sum({x});"),
    "Quad PREFIX_ISUM<F32>": ("float", "{x} = quad_prefix_inclusive_sum({x});"),
    "Quad PREFIX_ESUM<I32>": ("int", "{x} = quad_prefix_exclusive_sum({x});"),
    "Quad PREFIX_ISUM<I32>": ("int", "{x} = quad_prefix_inclusive_sum({x});"),
    "Quad PREFIX_EPROD<F32>": ("float", "{x} = quad_prefix_exclusive_product({x});"),
    "Quad PREFIX_IPROD<F32>": ("float", "{x} = quad_prefix_inclusive_product({x});"),
    "Quad BALLOT": ("uint", "{x} = uint(ushort(quad_ballot({x} != 0)));"),
    "Quad ICMP_BALLOT": ("uint", "{x} = uint(ushort(quad_ballot({x} > uint({pi}))));"),
    "Quad FCMP_BALLOT": (
        "float",
        "{x} = as_type<float>(uint(ushort(quad_ballot({x} > {p}))));",
    ),
}

# Steps that take two variables in turn: one step is two instructions of the chain.
PAIRED = frozenset(name for name, (_, step) in STEPS.items() if "{y}" in step)

# Steps that the compiler would fold were they not mixed with another instruction, and which; it is
# of another unit, so that it changes the latency only.
HELPERS = {
    "RINT32": "FADD32",
    "TRUNC32": "FADD32",
    "ROUND_INF": "FADD32",
    "BITEXTRACT32": "IADD32",
    "BITREV32": "IADD32",
    "BITREV16": "IADD16",
    "CLZ32": "IADD32",
}

# Bitwise operations need three kinds in turn, else they fold.
_BITWISE = ("^", "&", "|")

_OPERANDS = {
    "float": "pf",
    "half": "ph",
    "int": "pi",
    "uint": "pi",
    "short": "ps",
    "ushort": "ps",
    "ulong": "pl",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chains:
    """The text of a kernel of chains.

    Attributes:
        text: MSL.
        per_round: how often each instruction (or the whole sequence) is done in a round by a chain.
        chains: how many chains there are; 1 for sequences.
    """

    text: str
    per_round: int
    chains: int


@cache
def instruction(name: str, chains: int, steps: int) -> Chains:
    """`chains` independent chains of the instruction `name`, `steps` of each in a round."""
    variables = [_Variable(name=name, number=number) for number in range(chains)]
    return _kernel(variables, steps=steps, chains=chains)


@cache
def sequence(names: tuple[str, ...], steps: int) -> Chains:
    """One chain of each of `names`, which are one sequence together; `steps` of it in a round."""
    variables = [_Variable(name=name, number=number) for number, name in enumerate(names)]
    return _kernel(variables, steps=steps, chains=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variable:
    name: str
    number: int

    @property
    def type(self) -> str:
        return "uint" if self.name == "BITWISE32" else STEPS[self.name][0]

    def declaration(self) -> str:
        kind = self.type
        first = f"{_OPERANDS[kind]}[{self.number % 4}]" if kind != "ulong" else "ulong(pi[0])"
        following = (self.number + 1) % 4
        second = f"{_OPERANDS[kind]}[{following}]" if kind != "ulong" else "ulong(pi[1])"
        x, y = f"x{self.number}", f"y{self.number}"
        declared = f"{kind} {x} = {kind}({first} + {kind}({self.number + 1}));"
        if self.name in PAIRED:
            declared += f" {kind} {y} = {kind}({second} + {kind}(at));"
        return declared

    def step(self, turn: int) -> str:
        """The instruction, as step number `turn`; of pairs, each does half of the pair."""
        x, y = f"x{self.number}", f"y{self.number}"
        p, q = (turn + self.number) % 4, (turn + self.number + 1) % 4
        if self.name == "BITWISE32":
            return f"{x} = {x} {_BITWISE[turn % 3]} uint(pi[{p}]);"
        kind, text = STEPS[self.name]
        if self.name in PAIRED:
            text = re.split(r"(?<=;) ", text)[turn % 2]
        letters = _OPERANDS[kind]
        return text.format(
            x=x, y=y, p=f"{letters}[{p}]", q=f"{letters}[{q}]", pi=f"pi[{p}]", ps=f"ps[{p}]"
        )

    def result(self) -> str:
        x = f"x{self.number}"
        folded = {
            "float": f"as_type<uint>({x})",
            "half": f"uint(as_type<ushort>({x}))",
            "ulong": f"uint({x}) ^ uint({x} >> 32)",
        }.get(self.type, f"uint({x})")
        return folded + (f" ^ uint(y{self.number})" if self.name in PAIRED else "")


def _kernel(variables: Sequence[_Variable], *, steps: int, chains: int) -> Chains:
    lines = [
        "#define STATE " + " ".join(variable.declaration() for variable in variables),
        "#define UNROLLED "
        + " ".join(variable.step(turn) for turn in range(steps) for variable in variables),
        "#define RESULT results[at] = " + " ^ ".join(f"({v.result()})" for v in variables) + ";",
    ]
    template = (resources.files(__package__) / "kernels" / "chains.metal").read_text()
    return Chains(text="\n".join(lines) + "\n" + template, per_round=steps, chains=chains)
