"""Objects that stand for Metal's and pass on what is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .session import Session

_TELLS_LATER = "completionHandler_"


class Proxy:
    """Stands for one object: calls go to it with what other proxies stand for.

    Attributes:
        real: Metal's object.
        session: what is recorded.
        maker: the proxy that was called for it, with `call` and `given`; None for none.
    """

    # The classes of what methods make, by how the methods' names begin.
    MAKES: ClassVar[dict[str, type[Proxy]]] = {}

    def __init__(
        self,
        real: Any,
        session: Session,
        maker: Proxy | None = None,
        call: str = "",
        given: tuple[Any, ...] = (),
    ) -> None:
        self.real = real
        self.session = session
        self.maker = maker
        self.call = call
        self.given = given

    def device(self) -> Proxy:
        """The device that the object belongs to."""
        return self.session.device_of(self.real.device())

    def device_writes(self) -> None:
        """From here on the device may change what the object holds."""

    def __getattr__(self, name: str) -> Any:
        target = getattr(self.real, name)
        return self.passing_on(name, target) if callable(target) else target

    def passing_on(self, name: str, target: Callable[..., Any]) -> Callable[..., Any]:
        """A method of the real object that takes proxies and gives them."""

        def call(*given: Any) -> Any:
            passed = [real_of(each) for each in given]
            if name.endswith(_TELLS_LATER):
                handler = given[-1]
                passed[-1] = lambda made, *rest: handler(self._made(name, made, given), *rest)
                return target(*passed)
            result = target(*passed)
            if isinstance(result, tuple) and result and "error_" in name:
                return (self._made(name, result[0], given), *result[1:])
            return self._made(name, result, given)

        return call

    def _made(self, name: str, made: Any, given: tuple[Any, ...]) -> Any:
        if made is None:
            return None
        for start, kind in self.MAKES.items():
            if name.startswith(start):
                return kind(made, self.session, self, name, given)
        return made

    def __repr__(self) -> str:
        return f"<recorded {self.real!r}>"


def real_of(value: Any) -> Any:
    """What a value stands for, also in lists; anything else is itself."""
    if isinstance(value, Proxy):
        return value.real
    if type(value) in (list, tuple) and any(isinstance(each, Proxy) for each in value):
        return type(value)(real_of(each) for each in value)
    return value


def bytes_given(value: Any, length: int | None = None) -> bytes:
    """A copy of memory as programs pass it to Metal: of its first `length` bytes, if given."""
    if hasattr(value, "as_buffer") and length is not None:
        value = value.as_buffer(length)
    data = memoryview(value).cast("B")
    return bytes(data if length is None else data[:length])


def placed(name: str, given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Index by index what a method sets, that of one index or of a range of them."""
    *values, place = given
    if "Range" not in name:
        yield (int(place), *values)
        return
    first, count = (int(each) for each in place)
    for number in range(count):
        yield (first + number, *(each[number] for each in values))
