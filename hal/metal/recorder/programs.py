"""Libraries, functions, constants and pipelines that remember what they were made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...recordings import BoundTable, Constant, KernelRecord, LibraryRecord
from .proxy import Proxy, bytes_given, placed, real_of

if TYPE_CHECKING:
    from assay.compiler.air.container import Cutter

    from .session import Session

_OPTIONS = (
    "fastMathEnabled",
    "mathMode",
    "mathFloatingPointFunctions",
    "languageVersion",
    "optimizationLevel",
    "preserveInvariance",
    "enableLogging",
)


_SETTINGS = (
    "minFilter",
    "magFilter",
    "mipFilter",
    "sAddressMode",
    "tAddressMode",
    "rAddressMode",
    "borderColor",
    "compareFunction",
    "maxAnisotropy",
    "normalizedCoordinates",
    "lodMinClamp",
    "lodMaxClamp",
    "supportArgumentBuffers",
)


# What argument encoders write that recordings hold.
_MEMBERS = ("setBuffer", "setTexture", "setSamplerState", "setVisibleFunctionTable")


class NotRecorded(Exception):
    """A dispatch cannot be kept; the message is the reason, for a table of reasons."""


class Sampler(Proxy):
    """A sampler state, which does not tell its settings; its descriptor did.

    Attributes:
        settings: what the descriptor's methods said, by name.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        described = self.given[0]
        found = {name: getattr(described, name)() for name in _SETTINGS}
        self.settings: dict[str, int | float] = {
            name: value if isinstance(value, float) else int(value) for name, value in found.items()
        }


class ArgumentEncoder(Proxy):
    """Remembers what it writes into argument buffers."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._target: tuple[Any, int] | None = None

    def setArgumentBuffer_offset_(self, buffer: Any, offset: int) -> None:
        """Write into `buffer` from `offset` on."""
        self.real.setArgumentBuffer_offset_(buffer, offset)
        self._target = (buffer, int(offset))

    def setArgumentBuffer_startOffset_arrayElement_(
        self, buffer: Any, start: int, element: int
    ) -> None:
        """Write into one element of an array of structs."""
        self.real.setArgumentBuffer_startOffset_arrayElement_(buffer, start, element)
        alignment = int(self.real.alignment())
        stride = -(-int(self.real.encodedLength()) // alignment) * alignment
        self._target = (buffer, int(start) + int(element) * stride)

    def setIndirectCommandBuffer_atIndex_(self, commands: Any, index: int) -> None:
        """Write an indirect command buffer, which kernels may write then."""
        self.real.setIndirectCommandBuffer_atIndex_(real_of(commands), index)
        if isinstance(commands, Proxy):
            commands.device_writes()
        self._refuse("an argument buffer with an indirect command buffer")

    def __getattr__(self, name: str) -> Any:
        target = super().__getattr__(name)
        if name.startswith(_MEMBERS):
            return self._noting(name, target)
        if name.startswith("set") and not name.startswith("setLabel"):
            self._refuse(f"an argument buffer with {name.split('_')[0].removeprefix('set')}")
        elif name.startswith("constantData"):
            self._refuse("an argument buffer with constant data")
        return target

    def _noting(self, name: str, target: Callable[..., Any]) -> Callable[..., Any]:
        """A method that writes buffers with offsets, textures, samplers or tables."""

        def write(*given: Any) -> Any:
            result = target(*given)
            if self._target is not None:
                for index, member, *offset in placed(name, given):
                    at = int(offset[0]) if offset else 0
                    self.session.encoded.note(self, *self._target, index, member, at)
            return result

        return write

    def _refuse(self, reason: str) -> None:
        if self._target is not None:
            self.session.encoded.refuse(self, *self._target, reason)


class Function(Proxy):
    """A function of a library, with the values of its constants."""

    MAKES: ClassVar[dict[str, type[Proxy]]] = {"newArgumentEncoder": ArgumentEncoder}

    def kernel(self) -> KernelRecord:
        """What is recorded of it. Raises NotRecorded."""
        assert isinstance(self.maker, Library)
        name, *others = self.given
        constants: tuple[Constant, ...] = ()
        if isinstance(name, Descriptor):
            values = name.last.get("setConstantValues_", (None,))[0]
            name = name.real.name()
        else:
            values = others[0] if others and isinstance(others[0], Proxy) else None
        if isinstance(values, ConstantValues):
            constants = tuple(values.constants)
        return KernelRecord(
            library=self.maker.number(str(name)), name=str(name), constants=constants
        )


class Library(Proxy):
    """A library; what it was compiled from is taken when it is made."""

    MAKES: ClassVar[dict[str, type[Proxy]]] = {"newFunction": Function}

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._data, self._compiled = _data_of(self.call, self.given)
        options = self.given[1] if not self._compiled and len(self.given) > 1 else None
        self._options = _options_of(options)
        self._macros = _macros_of(options)
        self._numbers: dict[bytes, int] = {}
        self._cutter: Cutter | None = None

    def number(self, function: str) -> int:
        """The number in the recording of what a function needs of it. Raises NotRecorded."""
        if self._data is None:
            raise NotRecorded(f"a library of {self.call.split('_')[0]}")
        data = self._cut(function)
        if data not in self._numbers:
            writer = self.session.writer
            self._numbers[data] = writer.add_library(
                LibraryRecord(
                    data=writer.add_bytes(data),
                    compiled=self._compiled,
                    options=self._options,
                    macros=self._macros,
                )
            )
        return self._numbers[data]

    def _cut(self, function: str) -> bytes:
        """Of what Apple compiled, which may be large, a function with those that it may call."""
        from assay.compiler.air.container import MAGIC, AirFormatError, Cutter

        assert self._data is not None
        if not self._data.startswith(MAGIC):
            return self._data
        try:
            if self._cutter is None:
                self._cutter = Cutter(self._data, "the library")
            return self._cutter.only(function)
        except AirFormatError:  # it is told of where it is opened
            return self._data


class FunctionHandle(Proxy):
    """A visible function as a pipeline state calls it."""


class FunctionTable(Proxy):
    """A table of visible functions; it knows what it holds."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._held: list[Any] = [None] * int(real_of(self.given[0]).functionCount())

    def setFunction_atIndex_(self, function: FunctionHandle | None, index: int) -> None:
        """Put a function at a place; None empties it."""
        self.real.setFunction_atIndex_(real_of(function), index)
        self._held[int(index)] = function

    def setFunctions_withRange_(self, functions: Any, span: Any) -> None:
        """Put several functions at successive places."""
        for place in range(int(span[1])):
            self.setFunction_atIndex_(functions[place], int(span[0]) + place)

    def at(self, index: int) -> BoundTable:
        """What it holds, at an index of a kernel. Raises NotRecorded."""
        assert isinstance(self.maker, Pipeline)
        maker = self.maker
        return BoundTable(
            index=index,
            functions=tuple(
                None if each is None else maker.linked_number(each.given[0]) for each in self._held
            ),
        )


class Pipeline(Proxy):
    """A pipeline state; it knows its function and those that are linked."""

    MAKES: ClassVar[dict[str, type[Proxy]]] = {
        "functionHandle": FunctionHandle,
        "newVisibleFunctionTable": FunctionTable,
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._number: int | None = None
        self._linked: dict[str, int] = {}
        made_of = self.given[0] if self.given else None
        self._functions: Any = None
        if isinstance(made_of, Descriptor):
            self._functions = made_of.last.get("setLinkedFunctions_", (None,))[0]
            made_of = made_of.last.get("setComputeFunction_", (None,))[0]
        self._function = made_of

    def number(self) -> int:
        """The number of its kernel in the recording. Raises NotRecorded."""
        if not isinstance(self._function, Function):
            raise NotRecorded("a pipeline of an unknown function")
        if self._number is None:
            linked = self._those_linked("setFunctions_")
            private = self._those_linked("setPrivateFunctions_")
            self._linked = linked
            kernel = replace(
                self._function.kernel(),
                linked=tuple(linked.values()),
                private=tuple(private.values()),
            )
            self._number = self.session.writer.add_kernel(kernel)
        return self._number

    def linked_number(self, function: Function) -> int:
        """The number of a function that is linked. Raises NotRecorded."""
        self.number()
        return self._linked[str(function.real.name())]

    def _those_linked(self, by: str) -> dict[str, int]:
        """Numbers, by name, of functions that the descriptor was given by a method."""
        if self._functions is None:
            return {}
        if not isinstance(self._functions, Descriptor):
            raise NotRecorded("linked functions of an unknown origin")
        if self._functions.last.get("setBinaryFunctions_", (None,))[0]:
            raise NotRecorded("linked functions that are binary")
        given = self._functions.last.get(by, ((),))[0] or ()
        return {
            str(each.real.name()): self.session.writer.add_kernel(each.kernel()) for each in given
        }

    @property
    def name(self) -> str:
        """The name of its function."""
        return str(self._function.real.name()) if isinstance(self._function, Function) else ""


class Descriptor(Proxy):
    """A descriptor that programs make; `last` has what its set methods were last given."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.last: dict[str, tuple[Any, ...]] = {}

    def init(self) -> Descriptor:
        """The object itself, initialised."""
        self.real = self.real.init()
        return self

    def __getattr__(self, name: str) -> Any:
        target = super().__getattr__(name)
        known = self.last.get(f"set{name[:1].upper()}{name[1:]}_")
        if known is not None and isinstance(known[0], Proxy):
            return lambda: known[0]
        if not name.startswith("set"):
            return target

        def note(*given: Any) -> Any:
            self.last[name] = given
            return target(*given)

        return note


class ConstantValues(Descriptor):
    """Values of function constants."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.constants: list[Constant] = []

    def setConstantValue_type_atIndex_(self, value: Any, kind: int, index: int) -> None:
        """Set a constant by its number."""
        self.real.setConstantValue_type_atIndex_(value, kind, index)
        self._note(int(index), kind, value, 1)

    def setConstantValue_type_withName_(self, value: Any, kind: int, name: str) -> None:
        """Set a constant by its name."""
        self.real.setConstantValue_type_withName_(value, kind, name)
        self._note(str(name), kind, value, 1)

    def setConstantValues_type_withRange_(self, values: Any, kind: int, span: Any) -> None:
        """Set constants of successive numbers."""
        self.real.setConstantValues_type_withRange_(values, kind, span)
        self._note(int(span[0]), kind, values, int(span[1]))

    def reset(self) -> None:
        """Forget all values."""
        self.real.reset()
        self.constants.clear()

    def _note(self, key: int | str, kind: int, value: Any, count: int) -> None:
        data = bytes_given(value)
        self.constants.append(Constant(key=key, type=int(kind), value=data.hex(), count=count))


class DescriptorClass:
    """A class of Metal whose objects programs make."""

    def __init__(self, real: Any, session: Session, kind: type[Descriptor]) -> None:
        self._real = real
        self._session = session
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        target = getattr(self._real, name)
        return lambda *given: self._kind(target(*given), self._session)


DESCRIPTORS: dict[str, type[Descriptor]] = {
    "MTLComputePipelineDescriptor": Descriptor,
    "MTLFunctionDescriptor": Descriptor,
    "MTLLinkedFunctions": Descriptor,
    "MTLFunctionConstantValues": ConstantValues,
}
"""The classes whose objects are given what proxies stand for."""


def _data_of(call: str, given: tuple[Any, ...]) -> tuple[bytes | None, bool]:
    """What a library is compiled from, None if that is not known; whether it is compiled."""
    from ..emulated.programs.files import default_library, path_of  # it loads the device

    if call.startswith("newLibraryWithSource"):
        return str(given[0]).encode(), False
    if call.startswith("newLibraryWithData"):
        return bytes_given(given[0]), True
    if call.startswith(("newLibraryWithURL", "newLibraryWithFile")):
        return path_of(given[0]).read_bytes(), True
    if call == "newDefaultLibrary":
        return default_library().read_bytes(), True
    return None, True


def _options_of(options: Any) -> dict[str, int]:
    if options is None:
        return {}
    return {name: int(getattr(options, name)()) for name in _OPTIONS if hasattr(options, name)}


def _macros_of(options: Any) -> dict[str, str]:
    given = options.preprocessorMacros() if options is not None else None
    return {str(name): _macro(value) for name, value in (given or {}).items()}


def _macro(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
