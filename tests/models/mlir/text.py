"""Writes TOSA's text: values go by their names."""

from __future__ import annotations

from typing import Any

import numpy as np


class Block:
    """TOSA's text in the making; values go by their names."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._lines: list[str] = []
        self._inputs: list[str] = []
        self.shapes: dict[str, tuple[tuple[int, ...], str]] = {}

    def add(self, text: str, shape: tuple[int, ...], element: str = "bf16") -> str:
        """An operation whose result has this shape; `{}` in the text is the result's type."""
        name = f"%{len(self._lines)}"
        self._lines.append(f"  {name} = {text.replace('{}', kind(shape, element))}")
        self.shapes[name] = shape, element
        return name

    def op(
        self,
        op: str,
        operands: list[str],
        shape: tuple[int, ...],
        element: str = "bf16",
        fields: str = "",
    ) -> str:
        """One of TOSA's."""
        types = ", ".join(kind(*self.shapes[name]) for name in operands)
        given = f" <{{{fields}}}>" if fields else ""
        return self.add(
            f'"tosa.{op}"({", ".join(operands)}){given} : ({types}) -> {{}}', shape, element
        )

    def const(self, values: np.ndarray[Any, Any], element: str = "bf16") -> str:
        """A constant."""
        text = str(values.tolist()) if values.size > 1 else str(values.reshape(-1)[0].item())
        text = text.replace("True", "true").replace("False", "false")
        return self.add(
            f'"tosa.const"() <{{values = dense<{text}> : {{}}}}> : () -> {{}}',
            values.shape,
            element,
        )

    def weights(self, rows: int, columns: int) -> str:
        """A random matrix."""
        return self.const(self._random.normal(0, rows**-0.5, (1, rows, columns)).round(4))

    def reshape(self, x: str, shape: tuple[int, ...]) -> str:
        """Another shape."""
        sizes = f"%s{len(self._lines)}"
        rank = len(shape)
        values = f"dense<{list(shape)}> : tensor<{rank}xindex>"
        self._lines.append(
            f'  {sizes} = "tosa.const_shape"() <{{values = {values}}}> : () -> !tosa.shape<{rank}>'
        )
        given, element = kind(*self.shapes[x]), self.shapes[x][1]
        types = f"({given}, !tosa.shape<{rank}>)"
        return self.add(f'"tosa.reshape"({x}, {sizes}) : {types} -> {{}}', shape, element)

    def transpose(self, x: str, order: tuple[int, ...]) -> str:
        """Dimensions in another order."""
        shape = tuple(self.shapes[x][0][axis] for axis in order)
        fields = f"perms = array<i32: {', '.join(map(str, order))}>"
        return self.op("transpose", [x], shape, self.shapes[x][1], fields)

    def product(self, a: str, b: str) -> str:
        """A product of matrices, summed in float32 and rounded."""
        zero = self.const(np.zeros(1))
        shape = (*self.shapes[a][0][:2], self.shapes[b][0][2])
        sums = self.op("matmul", [a, b, zero, zero], shape, "f32")
        return self.op("cast", [sums], shape)

    def input(self, name: str, shape: tuple[int, ...], element: str = "bf16") -> str:
        """What the function is given."""
        self.shapes[name] = shape, element
        self._inputs.append(name)
        return name

    def text(self, results: list[str]) -> str:
        """The module."""
        given = ", ".join(f"{name}: {kind(*self.shapes[name])}" for name in self._inputs)
        types = [kind(*self.shapes[name]) for name in results]
        body = "\n".join(self._lines)
        made = ", ".join(types)
        back = f"return {', '.join(results)} : {made}"
        return f"func.func @main({given}) -> ({made}) {{\n{body}\n  {back}\n}}\n"


def kind(shape: tuple[int, ...], element: str) -> str:
    """A tensor's type."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"
