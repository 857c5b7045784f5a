"""Values as text: what `--input` takes and what results are printed as, both as IREE does it."""

import re
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .elements import ELEMENTS, FLOAT_BITS, Array, Value, element_name, type_text

_SHAPED = re.compile(
    r"^(?P<shape>(?:[\d?]+x)*)(?P<element>[a-z]+\w*(?:<\w+>)?)(?:=(?P<rest>.*))?$", re.S
)
_SEPARATORS = re.compile(r"[\s,\[\]]+")
_MAX_ELEMENTS = 1 << 31
_WORDS = {"true": True, "false": False}


class InputError(ValueError):
    """A value that cannot be read; `str()` says which, and what was expected."""


def parse_inputs(texts: list[str]) -> list[Value]:
    """The values of all `--input` options in order; one `.npy` file can give several."""
    values: list[Value] = []
    for text in texts:
        values.extend(parse_input(text))
    return values


def parse_input(text: str) -> list[Value]:
    """Reads one `--input`.

    `4x4xf32=1,2,...` (also blanks and brackets between elements; one element fills the whole
    tensor, none means zeros), `4x4xf32=@data.bin` (raw bytes), `@arrays.npy` (one array or, one
    after the other in the same file, several), `3` or `2.5` (scalars).
    """
    stripped = text.strip()
    if not stripped:
        raise InputError("--input: it is empty; expected 4x4xf32=1,2,... or @file.npy or a number")
    if stripped.startswith("@"):
        return list(read_npy(Path(stripped[1:])))
    scalar = _scalar(stripped)
    if scalar is not None:
        return [scalar]
    return [_tensor(stripped)]


def read_npy(path: Path) -> list[Array]:
    """All arrays of a `.npy` file."""
    arrays: list[Array] = []
    try:
        with path.open("rb") as file:
            while _more(file):
                arrays.append(np.lib.format.read_array(file, allow_pickle=False))
    except OSError as error:
        raise InputError(f"--input: {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError) as error:
        raise InputError(f"--input: {path} is not a readable .npy file: {error}") from None
    if not arrays:
        raise InputError(f"--input: {path} is empty")
    return [_restore(array) for array in arrays]


def read_npz(text: str) -> dict[str, Array]:
    """The arrays of an `.npz` file, given as `@file.npz`, by name."""
    path = Path(text.strip().removeprefix("@"))
    try:
        with path.open("rb") as data, np.load(data, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise InputError(f"--reference: {path} is no .npz file of arrays by name")
            return {name: _restore(file[name]) for name in file.files}
    except OSError as error:
        raise InputError(f"--reference: {path} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(f"--reference: {path} is not a readable .npz file: {error}") from None


def write_npy(file: BinaryIO, value: Value) -> None:
    """Appends a value to an open `.npy` file; types that NumPy cannot name are kept as bits."""
    np.lib.format.write_array(file, np.asarray(value, order="C"), allow_pickle=False)


def format_value(value: Value, *, limit: int = 1024) -> str:
    """A value as `iree-run-module` prints it, at most `limit` elements of it."""
    if not isinstance(value, np.ndarray):
        return f"{type_text(value)}={_number(value)}"
    return f"{type_text(value)}={_elements(value, [limit])}"


def _more(file: BinaryIO) -> bool:
    byte = file.read(1)
    file.seek(-len(byte), 1)
    return bool(byte)


def _restore(array: Array) -> Array:
    """A plain array; raw 2-byte items are bfloat16, which `.npy` cannot name."""
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:
        array = array.view(ELEMENTS["bf16"])
    if array.dtype not in ELEMENTS.values():
        names = ", ".join(sorted({element_name(dtype) for dtype in ELEMENTS.values()}))
        raise InputError(f"--input: elements of type {array.dtype}; expected one of {names}")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _scalar(text: str) -> int | float | None:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _tensor(text: str) -> Array:
    match = _SHAPED.match(text)
    if match is None or match["element"] not in ELEMENTS:
        known = ", ".join(ELEMENTS)
        raise InputError(
            f"--input {_short(text)}: expected SHAPExTYPE=VALUES such as 4x4xf32=1,2,3 with a type "
            f"of {known}; or @file.npy; or a number"
        )
    if "?" in match["shape"]:
        raise InputError(f"--input {_short(text)}: give every size; a value has no dynamic sizes")
    shape = tuple(int(size) for size in match["shape"].split("x") if size)
    count = 1
    for size in shape:
        count *= size
    if count > _MAX_ELEMENTS:
        raise InputError(f"--input {_short(text)}: {count} elements are more than can be held")
    dtype = ELEMENTS[match["element"]]
    contents = (match["rest"] or "").strip()
    if contents.startswith("@"):
        return _raw(Path(contents[1:]), shape, dtype, count)
    words = [word for word in _SEPARATORS.split(contents) if word]
    if len(words) not in {0, 1, count}:
        raise InputError(
            f"--input {_short(text)}: {len(words)} values for the {count} elements of "
            f"{match['shape']}{match['element']}; give {count}, or one for all, or none for zeros"
        )
    if not words:
        return np.zeros(shape, dtype)
    parsed = [_element(word, dtype, text) for word in words]
    flat = np.array(parsed, dtype) if len(parsed) == count else np.full(count, parsed[0], dtype)
    return flat.reshape(shape)


def _element(word: str, dtype: np.dtype[Any], text: str) -> Any:
    name = element_name(dtype)
    try:
        if dtype.kind == "b":
            return _WORDS[word.lower()] if word.lower() in _WORDS else bool(int(word, 0))
        if dtype.kind in "iu":
            return _integer(int(word, 0), dtype)
        if dtype.kind == "c":
            return complex(word)
        with np.errstate(over="ignore"):
            return dtype.type(float(int(word, 16)) if word[:2].lower() == "0x" else float(word))
    except (ValueError, OverflowError):
        raise InputError(f"--input {_short(text)}: {word!r} is no value of type {name}") from None


def _integer(value: int, dtype: np.dtype[Any]) -> Any:
    """A number as an integer type; a bit pattern such as 255 for i8 is taken as its bits."""
    info = np.iinfo(dtype)
    bits = info.bits
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise OverflowError(value)
    if value > info.max:
        value -= 1 << bits
    if value < info.min:
        raise OverflowError(value)
    return dtype.type(value)


def _raw(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], count: int) -> Array:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"--input: {path} cannot be read: {error.strerror or error}") from None
    if len(data) != count * dtype.itemsize:
        raise InputError(
            f"--input: {path} has {len(data)} bytes; {'x'.join(map(str, shape))}"
            f"x{element_name(dtype)} takes {count * dtype.itemsize}"
        )
    return np.frombuffer(data, dtype).reshape(shape).copy()


def _elements(array: Array, budget: list[int]) -> str:
    if array.ndim == 0:
        return _number(array[()])
    if array.ndim == 1:
        shown = array[: max(budget[0], 0)]
        budget[0] -= len(array)
        tail = " ..." if len(shown) < len(array) else ""
        return " ".join(_number(item) for item in shown) + tail
    parts = []
    for row in array:
        if budget[0] <= 0:
            parts.append("...")
            break
        parts.append(f"[{_elements(row, budget)}]")
    return "".join(parts)


def _number(value: Any) -> str:
    """C's `%G` for floats, as IREE prints them."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, complex | np.complexfloating):
        return f"{_number(float(value.real))}{_sign(float(value.imag))}j"
    return f"{float(value):G}"


def _sign(value: float) -> str:
    text = f"{value:G}"
    return text if text.startswith("-") else f"+{text}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


__all__ = [
    "FLOAT_BITS",
    "InputError",
    "format_value",
    "parse_input",
    "parse_inputs",
    "read_npy",
    "write_npy",
]
