"""What compute scripts take from `Foundation`: strings, paths, data, collections, errors.

PyObjC gives Python's own types where Cocoa has an equal; so do these: an NSString is a `str`, an
NSData is `bytes`, an NSDictionary is a `dict`, with Cocoa's methods added.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from assay.hal.metal.emulated import NSError, NSLocalizedDescriptionKey, NSMakeRange, NSRange
from assay.hal.metal.emulated.objects import Allocated

from .texts import (
    NSURL,
    NSASCIIStringEncoding,
    NSCocoaErrorDomain,
    NSString,
    NSUTF8StringEncoding,
    PathText,
)

__all__ = [
    "NO",
    "NSURL",
    "YES",
    "NSASCIIStringEncoding",
    "NSArray",
    "NSAutoreleasePool",
    "NSCocoaErrorDomain",
    "NSData",
    "NSDictionary",
    "NSError",
    "NSLocalizedDescriptionKey",
    "NSLog",
    "NSMakeRange",
    "NSMutableArray",
    "NSMutableData",
    "NSMutableDictionary",
    "NSNumber",
    "NSRange",
    "NSString",
    "NSUTF8StringEncoding",
]

YES, NO = True, False


class _Data:
    """What NSData and NSMutableData share; their other base holds the bytes."""

    if TYPE_CHECKING:

        def __init__(self, data: Any = b"", /) -> None: ...

        def __len__(self) -> int: ...

    @classmethod
    def alloc(cls) -> type[Self]:
        """To be followed by an init method."""
        return cls

    @classmethod
    def data(cls) -> Self:
        """No bytes."""
        return cls()

    @classmethod
    def dataWithBytes_length_(cls, data: Any, length: int) -> Self:
        """A copy of the first `length` bytes."""
        return cls(memoryview(data).cast("B")[:length])

    initWithBytes_length_ = dataWithBytes_length_

    def length(self) -> int:
        """Number of bytes."""
        return len(self)


class NSData(_Data, bytes):
    """Bytes that do not change."""

    @classmethod
    def dataWithData_(cls, data: Any) -> Self:
        """A copy."""
        return cls(memoryview(data).cast("B"))

    @classmethod
    def dataWithContentsOfFile_(cls, path: PathText) -> Self | None:
        """The bytes of a file, None if it cannot be read."""
        try:
            return cls(Path(path).read_bytes())
        except OSError:
            return None

    initWithContentsOfFile_ = dataWithContentsOfFile_

    @classmethod
    def dataWithContentsOfURL_(cls, url: NSURL) -> Self | None:
        """The bytes of a file, None if it cannot be read."""
        return cls.dataWithContentsOfFile_(url.path())

    def bytes(self) -> memoryview:
        """A view of the bytes."""
        return memoryview(self)

    def writeToFile_atomically_(self, path: PathText, _atomically: bool) -> bool:
        """Write the bytes; whether that went well."""
        return _write(path, self)


class NSMutableData(_Data, bytearray):
    """Bytes that may change."""

    @classmethod
    def dataWithLength_(cls, length: int) -> Self:
        """Zeros."""
        return cls(length)

    initWithLength_ = dataWithLength_

    def mutableBytes(self) -> memoryview:
        """A writable view of the bytes."""
        return memoryview(self)

    def bytes(self) -> memoryview:
        """A view of the bytes."""
        return memoryview(self).toreadonly()

    def appendBytes_length_(self, data: Any, length: int) -> None:
        """Add the first `length` bytes."""
        self += memoryview(data).cast("B")[:length]

    def writeToFile_atomically_(self, path: PathText, _atomically: bool) -> bool:
        """Write the bytes; whether that went well."""
        return _write(path, self)


class NSArray(list[Any]):
    """Things in an order."""

    @classmethod
    def array(cls) -> Self:
        """No things."""
        return cls()

    @classmethod
    def arrayWithArray_(cls, things: Sequence[Any]) -> Self:
        """The same things."""
        return cls(things)

    @classmethod
    def arrayWithObjects_count_(cls, things: Sequence[Any], count: int) -> Self:
        """The first `count` things."""
        return cls(things[:count])

    def count(self) -> int:  # type: ignore[override]  # Cocoa's, not that of list
        """How many things there are."""
        return len(self)

    def objectAtIndex_(self, index: int) -> Any:
        """One of the things."""
        return self[index]


class NSMutableArray(NSArray):
    """Things in an order that may change."""

    def addObject_(self, thing: Any) -> None:
        """Put a thing at the end."""
        self.append(thing)


class NSDictionary(dict[Any, Any]):
    """Things by key."""

    @classmethod
    def dictionary(cls) -> Self:
        """No things."""
        return cls()

    @classmethod
    def dictionaryWithDictionary_(cls, things: Mapping[Any, Any]) -> Self:
        """The same things."""
        return cls(things)

    @classmethod
    def dictionaryWithObject_forKey_(cls, thing: Any, key: Any) -> Self:
        """One thing."""
        return cls({key: thing})

    @classmethod
    def dictionaryWithObjects_forKeys_(cls, things: Sequence[Any], keys: Sequence[Any]) -> Self:
        """Things and their keys."""
        return cls(zip(keys, things, strict=True))

    def count(self) -> int:
        """How many things there are."""
        return len(self)

    def allKeys(self) -> NSArray:
        """All keys."""
        return NSArray(self)

    def objectForKey_(self, key: Any) -> Any:
        """The thing of a key, or None."""
        return self.get(key)


class NSMutableDictionary(NSDictionary):
    """Things by key that may change."""

    def setObject_forKey_(self, thing: Any, key: Any) -> None:
        """Give a key its thing."""
        self[key] = thing


class NSNumber:
    """Makes numbers, which are Python's own."""

    numberWithBool_ = staticmethod(bool)
    numberWithInt_ = staticmethod(int)
    numberWithInteger_ = staticmethod(int)
    numberWithUnsignedInt_ = staticmethod(int)
    numberWithUnsignedInteger_ = staticmethod(int)
    numberWithLong_ = staticmethod(int)
    numberWithLongLong_ = staticmethod(int)
    numberWithFloat_ = staticmethod(float)
    numberWithDouble_ = staticmethod(float)


class NSAutoreleasePool(Allocated):
    """Accepted and without effect: Python's references alone keep objects alive."""

    def drain(self) -> None:
        """Nothing to do."""

    def release(self) -> None:
        """Nothing to do."""


def NSLog(text: str, *arguments: object) -> None:
    """Print a line to stderr; %@ in the text stands for the next of `arguments`."""
    words = text.replace("%@", "%s") % arguments if arguments else text
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {words}", file=sys.stderr)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"the stand-in for Foundation has no {name!r}; it has {', '.join(sorted(__all__))}"
    )


def _write(path: PathText, data: bytes | bytearray) -> bool:
    try:
        Path(path).write_bytes(data)
    except OSError:
        return False
    return True
