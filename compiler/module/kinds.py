"""Operators by what they do, in the words of each format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_WORDS: Final = {
    "": """
Abs Add And BatchNormalization Cast Ceil Clip DequantizeLinear Div Elu Equal Erf Exp Floor Gelu
Greater HardSigmoid HardSwish LeakyRelu Less Log Max Min Mod Mul Neg Not Or PRelu Pow QuantizeLinear
Reciprocal Relu Round Selu Sigmoid Softplus Sqrt Sub Tanh Where
""",
    "stablehlo.": """
abs add and atan2 cbrt ceil clamp compare convert cosine divide exponential exponential_minus_one
floor is_finite log log_plus_one logistic maximum minimum multiply negate not or power remainder
round_nearest_afz round_nearest_even rsqrt select sign sine sqrt subtract tan tanh xor
""",
    "tosa.": """
abs add arithmetic_right_shift bitwise_and bitwise_not bitwise_or bitwise_xor cast ceil clamp clz
cos equal erf exp floor greater greater_equal intdiv log logical_and logical_left_shift logical_not
logical_or logical_right_shift logical_xor maximum minimum mul negate pow reciprocal rescale rsqrt
select sigmoid sin sub table tanh
""",
    "chlo.": "asin acos atan cosh erf erf_inv erfc is_inf sinh square tan",
    "arith.": "addf addi divf extf maximumf minimumf mulf muli negf sitofp subf subi truncf",
    "math.": "absf ceil cos erf exp floor log powf rsqrt sin sqrt tanh",
}
_MOVING: Final = {
    "": "Concat Expand Slice Split Tile Transpose",
    "stablehlo.": """
broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_iota dynamic_slice iota pad reverse
slice transpose
""",
    "tosa.": "concat pad reverse slice tile transpose",
    "tensor.": "concat extract_slice insert_slice pad splat",
}
_OF_ITSELF: Final = {
    "": "Elu Erf Exp HardSigmoid HardSwish LeakyRelu Relu Selu Sigmoid Tanh",
    "stablehlo.": "exponential logistic tanh",
    "tosa.": "erf exp sigmoid tanh",
}
_OF_TWO_WORDS: Final = {
    "": "Add Div Mul Sub",
    "stablehlo.": "add divide multiply subtract",
    "tosa.": "add sub",
}
_WINDOWS: Final = ("conv", "pool", "resize", "reduce_window", "gather", "interpolate")


def _all(words: dict[str, str]) -> Iterator[str]:
    for dialect, names in words.items():
        yield from (f"{dialect}{name}" for name in names.split())


ELEMENTWISE: Final = frozenset(_all(_WORDS))
"""What is done element by element, so that it can be done where the element is made."""
MOVES: Final = frozenset((*_all(_MOVING), "copy"))
"""What gives elements other places."""
COMPUTED: Final = frozenset(_all(_OF_ITSELF))
"""Of one tensor's elements, what no other operator undoes, and no constant makes nothing of."""
OF_TWO: Final = frozenset(_all(_OF_TWO_WORDS))
"""Of two tensors' elements."""
WITHIN_PLACE: Final = COMPUTED | OF_TWO | {"Max", "Min"}
"""What reads an element before it writes at its place."""


def needs_elements(kind: str) -> bool:
    """Whether it looks at elements that an empty tensor does not have."""
    if "." in kind:
        return any(word in kind for word in _WINDOWS)
    return kind not in ELEMENTWISE | MOVES
