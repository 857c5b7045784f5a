"""What MLX's function transformations see of a kernel: a function without derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from .arrays import is_mlx


def without_derivatives(
    name: str, compute: Callable[[Sequence[object]], list[Any]], inputs: Sequence[object]
) -> list[Any]:
    """What `compute` gives for `inputs`, in such a way that derivatives of it are refused.

    Without that, MLX would take the results for constants, and gradients would silently be zero.
    """
    places = [place for place, value in enumerate(inputs) if is_mlx(value)]
    if not places:
        return compute(inputs)

    def run(*arrays: object) -> tuple[Any, ...]:
        given = list(inputs)
        for place, array in zip(places, arrays, strict=True):
            given[place] = array
        return tuple(compute(given))

    def refuse(*_: object) -> NoReturn:
        raise ValueError(
            f"[metal_kernel] The kernel {name!r} has no derivative; call it in a function with "
            "mx.custom_function and give that one a vjp."
        )

    function = import_module("mlx.core").custom_function(run)
    function.vjp(refuse)
    function.jvp(refuse)
    return list(function(*[inputs[place] for place in places]))
