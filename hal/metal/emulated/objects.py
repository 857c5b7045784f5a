"""What all objects of the emulated Metal share: labels, and a clear word on what does not exist."""

import sys
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

from .errors import MetalValidationError

T = TypeVar("T")

# What no object has, by what its methods have in their names.
_ABSENT = {
    "MTL4": "that part of Metal 4 is",
    "Render": "rendering is",
    "Depth": "rendering is",
    "Mesh": "rendering is",
    "AccelerationStructure": "ray tracing is",
    "Intersection": "ray tracing is",
    "counterSample": "counters are",
    "CounterSample": "counters are",
    "sampleCounters": "counters are",
    "Capture": "capture is",
    "ResourceState": "sparse resources are",
    "attachments": "tensors of several planes are",
    "IOCommand": "file input is",
    "IOFile": "file input is",
    "LogState": "log states are",
    "Imageblock": "imageblocks are",
    "StageInRegion": "[[stage_in]] is",
    "stageInput": "[[stage_in]] is",
}


class MetalObject:
    """An object that only Metal makes; it has a label for tools and messages.

    Methods with names in camelCase are Metal's. Fields without a leading underscore, and methods
    in snake_case, are what the emulator's own modules share; programs find nothing there on a Mac.
    """

    _label: str | None = None

    def label(self) -> str | None:
        """The name given by setLabel_, or None."""
        return self._label

    def setLabel_(self, label: str | None) -> None:
        """Name the object in messages and timelines."""
        if label is not None:
            expect(f"{type(self).__name__}.setLabel_", "the label", label, str)
        self._label = label

    def retain(self) -> Self:
        """The object itself. Deviation: Python's references alone keep objects alive."""
        return self

    def release(self) -> None:
        """Accepted and ignored. Deviation: Python's references alone keep objects alive."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            reason = next((why for part, why in _ABSENT.items() if part in name), "")
            raise AttributeError(
                f"the emulated {type(self).__name__} has no {name!r}"
                f"{reason and f': {reason} not emulated'}; "
                "docs/reference/metal-api.md lists what it has",
                name=name,
                obj=self,
            )

    def __repr__(self) -> str:
        label = f" {self._label!r}" if self._label else ""
        return f"<{type(self).__name__}{label}>"


class Allocated:
    """An object of Cocoa's kind: programs make it with alloc().init() or new()."""

    @classmethod
    def alloc(cls) -> Self:
        """A fresh object, to be followed by init()."""
        return cls()

    @classmethod
    def new(cls) -> Self:
        """A fresh, initialised object."""
        return cls()

    def init(self) -> Self:
        """The object itself, initialised."""
        return self


class UserMade(Allocated, MetalObject):
    """An object that programs make themselves, with alloc().init() or new()."""


# Names of methods, by class and method: each call asks, and putting them together takes longer.
_CALLS: dict[tuple[type, str], str] = {}


def call_of(receiver: object) -> str:
    """How messages name the method of Metal that calls this: `MTLHeap.setPurgeableState_`.

    Args:
        receiver: the method's own `self`: its class is Metal's, also if a mixin has the method.
    """
    key = type(receiver), sys._getframe(1).f_code.co_name
    name = _CALLS.get(key)
    if name is None:
        name = _CALLS[key] = f"{key[0].__name__}.{key[1]}"
    return name


def expect(where: str, what: str, value: object, kind: type[T]) -> T:
    """`value` when it is a `kind` of the emulated Metal. Raises MetalValidationError."""
    if not isinstance(value, kind):
        raise MetalValidationError(
            f"{where}: {what} must be an {kind.__name__}, and is {type(value).__name__}"
        )
    return value
