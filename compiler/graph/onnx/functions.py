"""Functions of one number: tables, where their operand has 8 or 16 bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Node
from .state import Convert, State, attribute, reason_of
from .values import Constant, Mapped, NotForNpu, Real, Value, sampled

Numbers = NDArray[np.float64]
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Numbers) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-x)))


def _selu(x: Numbers, node: Node) -> Numbers:
    alpha = attribute(node, "alpha", 1.67326319217681884765625)
    gamma = attribute(node, "gamma", 1.05070102214813232421875)
    return np.asarray(gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))))


def _gelu(x: Numbers, node: Node) -> Numbers:
    if attribute(node, "approximate", "none") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return np.asarray(0.5 * x * (1 + np.tanh(inner)))
    return np.asarray(0.5 * x * (1 + _erf(x / math.sqrt(2))))


def _hard_sigmoid(x: Numbers, node: Node) -> Numbers:
    return np.asarray(
        np.clip(attribute(node, "alpha", 0.2) * x + attribute(node, "beta", 0.5), 0, 1)
    )


_FUNCTIONS: Mapping[str, Callable[[Numbers, Node], Any]] = {
    "Sigmoid": lambda x, _: _sigmoid(x),
    "Tanh": lambda x, _: np.tanh(x),
    "Erf": lambda x, _: _erf(x),
    "Exp": lambda x, _: np.exp(x),
    "Log": lambda x, _: np.log(x),
    "Sqrt": lambda x, _: np.sqrt(x),
    "Reciprocal": lambda x, _: 1 / x,
    "Neg": lambda x, _: -x,
    "Abs": lambda x, _: np.abs(x),
    "Ceil": lambda x, _: np.ceil(x),
    "Floor": lambda x, _: np.floor(x),
    "Round": lambda x, _: np.rint(x),
    "Sign": lambda x, _: np.sign(x),
    "Sin": lambda x, _: np.sin(x),
    "Cos": lambda x, _: np.cos(x),
    "Atan": lambda x, _: np.arctan(x),
    "Softplus": lambda x, _: np.logaddexp(0, x),
    "Softsign": lambda x, _: x / (1 + np.abs(x)),
    "HardSwish": lambda x, _: x * np.clip(x / 6 + 0.5, 0, 1),
    "HardSigmoid": _hard_sigmoid,
    "Mish": lambda x, _: x * np.tanh(np.logaddexp(0, x)),
    "Elu": lambda x, n: np.where(x > 0, x, attribute(n, "alpha", 1.0) * np.expm1(np.minimum(x, 0))),
    "Celu": lambda x, n: (
        np.maximum(x, 0)
        + np.minimum(0, attribute(n, "alpha", 1.0) * np.expm1(x / attribute(n, "alpha", 1.0)))
    ),
    "Selu": _selu,
    "Gelu": _gelu,
    "QuickGelu": lambda x, n: x * _sigmoid(attribute(n, "alpha", 1.702) * x),
    "LeakyRelu": lambda x, n: np.where(x > 0, x, attribute(n, "alpha", 0.01) * x),
    "ThresholdedRelu": lambda x, n: np.where(x > attribute(n, "alpha", 1.0), x, 0),
}


def of_one(state: State, node: Node) -> Value:
    """A function of one number."""
    return applied(state.operand(node, 0), node, lambda x: _FUNCTIONS[node.op](x, node))


def applied(value: Value, node: Node, function: Callable[[Numbers], Any]) -> Mapped:
    """A function of what a value stands for. Raises NotForNpu."""
    with np.errstate(all="ignore"):
        if isinstance(value, Mapped):
            return Mapped(x=value.x, values=np.asarray(function(value.values), np.float64))
        if isinstance(value, Real):
            return Mapped(x=value, values=np.asarray(function(sampled(value)), np.float64))
    raise NotForNpu(reason_of(value))


def prelu(state: State, node: Node) -> Value:
    """PRelu with one slope for all."""
    slope = state.operand(node, 1)
    if not isinstance(slope, Constant) or np.any(slope.array != slope.array.flat[0]):
        raise NotForNpu("its slopes differ by channel, or are computed")
    factor = float(slope.array.flat[0])
    return applied(state.operand(node, 0), node, lambda x: np.where(x > 0, x, factor * x))


OPERATORS: dict[tuple[str, str], Convert] = {
    **{("", name): of_one for name in _FUNCTIONS if name != "QuickGelu"},
    **{("com.microsoft", name): of_one for name in ("Gelu", "QuickGelu")},
    ("", "PRelu"): prelu,
}
"""By domain and name."""
