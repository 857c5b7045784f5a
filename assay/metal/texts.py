"""Cocoa's text and places of files: an NSString is a `str`, an NSURL can be opened as a path."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from assay.hal.metal.emulated import NSError

NSASCIIStringEncoding = 1
NSUTF8StringEncoding = 4
NSCocoaErrorDomain = "NSCocoaErrorDomain"
_ENCODINGS = {NSASCIIStringEncoding: "ascii", NSUTF8StringEncoding: "utf-8"}
_NO_SUCH_FILE = 260  # NSFileReadNoSuchFileError
_NOT_THAT_ENCODING = 261  # NSFileReadInapplicableStringEncodingError

PathText = str | PathLike[str]


class NSString(str):
    """Text, with the methods for paths that scripts use."""

    @classmethod
    def alloc(cls) -> type[Self]:
        """To be followed by an init method."""
        return cls

    @classmethod
    def stringWithString_(cls, text: str) -> Self:
        """The same text."""
        return cls(text)

    initWithString_ = stringWithString_

    @classmethod
    def stringWithUTF8String_(cls, data: bytes | str) -> Self:
        """The text that `data` encodes."""
        return cls(data if isinstance(data, str) else data.decode())

    initWithUTF8String_ = stringWithUTF8String_

    @classmethod
    def stringWithContentsOfFile_encoding_error_(
        cls, path: PathText, encoding: int, _error: None
    ) -> tuple[Self | None, NSError | None]:
        """The text of a file, or why there is none."""
        try:
            return cls(Path(path).read_text(_ENCODINGS.get(encoding, "utf-8"))), None
        except OSError as error:
            return None, _error_of(_NO_SUCH_FILE, path, error)
        except UnicodeDecodeError as error:
            return None, _error_of(_NOT_THAT_ENCODING, path, error)

    initWithContentsOfFile_encoding_error_ = stringWithContentsOfFile_encoding_error_

    @classmethod
    def stringWithContentsOfURL_encoding_error_(
        cls, url: NSURL, encoding: int, _error: None
    ) -> tuple[Self | None, NSError | None]:
        """The text of a file, or why there is none."""
        return cls.stringWithContentsOfFile_encoding_error_(url.path(), encoding, None)

    @classmethod
    def pathWithComponents_(cls, parts: Sequence[str]) -> Self:
        """The path of these parts."""
        return cls(Path(*parts))

    def length(self) -> int:
        """Number of characters."""
        return len(self)

    def UTF8String(self) -> bytes:
        """The text, encoded."""
        return self.encode()

    def stringByAppendingString_(self, text: str) -> NSString:
        """This text and another."""
        return NSString(self + text)

    def stringByAppendingPathComponent_(self, part: str) -> NSString:
        """The path of `part` in this folder."""
        return NSString(Path(self) / part)

    def stringByAppendingPathExtension_(self, extension: str) -> NSString:
        """The path with another extension behind."""
        return NSString(f"{self}.{extension}")

    def stringByDeletingLastPathComponent(self) -> NSString:
        """The folder that the path lies in."""
        return NSString(Path(self).parent)

    def stringByDeletingPathExtension(self) -> NSString:
        """The path without its extension."""
        return NSString(Path(self).with_suffix(""))

    def stringByExpandingTildeInPath(self) -> NSString:
        """The path with the user's home folder for ~."""
        return NSString(Path(self).expanduser())

    def stringByStandardizingPath(self) -> NSString:
        """The path without . and .. in it."""
        return NSString(Path(self).expanduser().resolve())

    def lastPathComponent(self) -> NSString:
        """The last part of the path."""
        return NSString(Path(self).name)

    def pathExtension(self) -> NSString:
        """The extension, without its dot."""
        return NSString(Path(self).suffix[1:])


class NSURL:
    """The place of a file. Other places than files have no use in Metal."""

    def __init__(self, path: str):
        self._path = path

    @classmethod
    def alloc(cls) -> type[Self]:
        """To be followed by an init method."""
        return cls

    @classmethod
    def fileURLWithPath_(cls, path: PathText) -> Self:
        """The URL of a file."""
        return cls(fspath(path))

    initFileURLWithPath_ = fileURLWithPath_

    @classmethod
    def fileURLWithPath_isDirectory_(cls, path: PathText, _directory: bool) -> Self:
        """The URL of a file or folder."""
        return cls(fspath(path))

    @classmethod
    def URLWithString_(cls, text: str) -> Self | None:
        """The URL that is written so; None if it is not one of a file."""
        parts = urlsplit(text)
        return cls(unquote(parts.path)) if parts.scheme == "file" else None

    def path(self) -> NSString:
        """The path of the file."""
        return NSString(self._path)

    def fileSystemRepresentation(self) -> bytes:
        """The path, encoded."""
        return self._path.encode()

    def absoluteString(self) -> NSString:
        """The URL as text."""
        return NSString(Path(self._path).absolute().as_uri())

    def lastPathComponent(self) -> NSString:
        """The last part of the path."""
        return self.path().lastPathComponent()

    def pathExtension(self) -> NSString:
        """The extension, without its dot."""
        return self.path().pathExtension()

    def URLByAppendingPathComponent_(self, part: str) -> NSURL:
        """The URL of `part` in this folder."""
        return NSURL(str(Path(self._path) / part))

    def URLByDeletingLastPathComponent(self) -> NSURL:
        """The URL of the folder."""
        return NSURL(str(Path(self._path).parent))

    def isFileURL(self) -> bool:
        """Always True."""
        return True

    def checkResourceIsReachableAndReturnError_(self, _error: None) -> tuple[bool, NSError | None]:
        """Whether the file is there, or why not."""
        if Path(self._path).exists():
            return True, None
        missing = FileNotFoundError("there is no such file")
        return False, _error_of(_NO_SUCH_FILE, self._path, missing)

    def __fspath__(self) -> str:
        return self._path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NSURL) and other._path == self._path

    def __hash__(self) -> int:
        return hash(self._path)

    def __repr__(self) -> str:
        return str(self.absoluteString())


def _error_of(code: int, path: PathText, error: Exception) -> NSError:
    return NSError(NSCocoaErrorDomain, code, f"{fspath(path)}: {error}", error)
