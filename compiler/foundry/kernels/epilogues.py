"""Epilogues: what is done to each value of a kernel before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import FoundryError
from ..lines import folded
from ..structs.declare import name_fault
from ..structs.types import Scalar
from .arguments import Argument, Output, Params, Tensor, argument_of, member
from .callers import line_of_caller, shown
from .includes import Included
from .stages import Emitted, ThreadgroupArray


class Epilogue:
    """What is done to a value before it is stored.

    Args:
        name: a name in MSL.
        expression: of `value`, `at`, its place in the output, `column`, its place in a row of it
            (the same for kernels of vectors), and the arguments by name.
        arguments: buffers and numbers of its own.
    """

    threadgroup: tuple[ThreadgroupArray, ...] = ()

    def __init__(
        self, name: str, expression: str, arguments: Mapping[str, Any] | None = None
    ) -> None:
        if fault := name_fault(f"epilogue_{name}"):
            raise FoundryError("kernel-name", f"{name!r} is {fault}: an epilogue has one in MSL")
        self.name = name
        self.declared_at = line_of_caller()
        self.expression = expression
        self.arguments: Mapping[str, Argument] = {
            each: argument_of(declared, f"{name}: {each}")
            for each, declared in (arguments or {}).items()
        }
        if any(isinstance(each, Output) for each in self.arguments.values()):
            raise FoundryError(
                "stage-output", f"{shown(self)}: an epilogue has no output of its own"
            )

    def text(self, included: Included) -> str:
        """A function of its own."""
        taken = "".join(f", {member(n, a)}" for n, a in self.arguments.items())
        head = (
            f"static inline float epilogue_{self.name}(float value, uint at, uint column{taken}) {{"
        )
        return "\n".join([*folded(head, ""), f"    return {self.expression};", "}\n"])

    def emit(self, variable: str | None) -> Emitted:
        """The value, changed."""
        if variable is None:
            raise FoundryError(
                "stage-epilogue",
                f"{shown(self)}: the stage in front of it returns nothing and takes no epilogue",
            )
        return Emitted((f"{variable} = {self.call(variable)};",), variable)

    def call(self, variable: str, column: str = "at") -> str:
        """The function with its arguments."""
        return f"epilogue_{self.name}({', '.join([variable, 'at', column, *self.arguments])})"


SILU: Final = Epilogue("silu", "value / (1.0f + exp(-value))")
RELU: Final = Epilogue("relu", "max(value, 0.0f)")
GELU: Final = Epilogue(
    "gelu",
    "0.5f * value * (1.0f + tanh(0.7978845608f * (value + 0.044715f * value * value * value)))",
)


GELU_SIGMOID: Final = Epilogue("gelu_sigmoid", "value / (1.0f + exp(-1.702f * value))")
"""The other approximation of GELU, by a sigmoid."""


def bias(element: Any) -> Epilogue:
    """Adds `bias[column]`."""
    return Epilogue("bias", "value + float(bias[column])", {"bias": Tensor(_scalar(element))})


def residual(element: Any) -> Epilogue:
    """Adds `residual[at]`."""
    given = {"residual": Tensor(_scalar(element))}
    return Epilogue("residual", "value + float(residual[at])", given)


def scaled() -> Epilogue:
    """Multiplies by `alpha`, a number that the call gives."""
    return Epilogue("scaled", "alpha * value", {"alpha": float})


def added(element: Any) -> Epilogue:
    """Adds `beta * addend[at]`: what an output held before, by a number that the call gives."""
    given = {"beta": float, "addend": Tensor(_scalar(element))}
    return Epilogue("added", "value + beta * float(addend[at])", given)


def _scalar(element: Any) -> Scalar:
    declared = argument_of(element, "an epilogue's tensor")
    if isinstance(declared, Params) and isinstance(declared.layout, Scalar):
        return declared.layout
    raise FoundryError("kernel-argument", f"{element!r} is no type of numbers")
