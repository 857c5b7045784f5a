"""Which NPU: a profile's name, or a custom one as a line of numbers and names.

Forms: `SL2610`; `LRAM:slices:css:nss[:...]`; `hw_id:LRAM:slices:css:nss[:...]`, with LRAM in KiB,
and optional DMA bytes per cycle, DMA factor, host triple, host CPU, host features.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from ...facts import fact, table, text
from .machine import file, limit

DEFAULT = "SL2610"
FORM = (
    "[<hw_id>:]<LRAM in KiB>:<slices>:<css>:<nss>"
    "[:<DMA bytes per cycle>[:<DMA factor>:<host triple>:<host CPU>:<host features>]]"
)
_OPTIONAL = ("8", "1.0", "native", "host", "host")
"""What follows the five fields, and what is taken for it when it is left out."""
_DECIMAL = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?")
_WHOLE = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_MOST_DIGITS = 32
_LARGEST_LRAM = (1 << 24) >> 10


class HardwareError(ValueError):
    """Text does not name an NPU; the message says what would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """One NPU. Sizes are bytes; `dma_factor` is the share of `dma_bytes_per_cycle` reached."""

    name: str
    description: str
    hw_id: int
    lram: int
    slices: int
    css: str
    nss: str
    dma_bytes_per_cycle: Fraction
    dma_factor: Fraction
    cdma_factor: Fraction
    """The share of CDMA's 16 bytes per cycle reached."""

    @property
    def sizes(self) -> str:
        """What a program depends on: `<hw_id>:<LRAM in KiB>:<slices>:<css>:<nss>`."""
        return f"{self.hw_id}:{self.lram // 1024}:{self.slices}:{self.css}:{self.nss}"


def hardware(text: str = DEFAULT) -> Hardware:
    """The NPU that `text` names or describes. Raises HardwareError."""
    parts = text.strip().removeprefix("--torq-hw=").split(":")
    if len(parts) == 1:
        return _profile(parts[0])
    has_id = len(parts) > 2 and _WHOLE.fullmatch(parts[2]) is not None
    fields = parts if has_id else ["0", *parts]
    if not 5 <= len(fields) <= 5 + len(_OPTIONAL):
        raise HardwareError(
            f"hardware {text!r} has {len(parts)} fields; expected a profile ({', '.join(names())}) "
            f"or {FORM}"
        )
    fields += _OPTIONAL[len(fields) - 5 :]
    return Hardware(
        name="custom",
        description=f"custom hardware {text}",
        hw_id=_whole(text, "hw_id", fields[0], 0, (1 << 32) - 1),
        lram=1024 * _whole(text, "LRAM size in KiB", fields[1], 1, _LARGEST_LRAM),
        slices=_whole(text, "slice count", fields[2], 1, limit("slices")),
        css=_known(text, "CSS configuration", fields[3], "css"),
        nss=_known(text, "NSS configuration", fields[4], "nss"),
        dma_bytes_per_cycle=_positive(text, "DMA bytes per cycle", fields[5]),
        dma_factor=_positive(text, "DMA factor", fields[6]),
        cdma_factor=_cdma_factor(fields[3]),
    )


def names() -> tuple[str, ...]:
    """The names of the profiles."""
    source = file()
    return tuple(table(source.name, "profiles", source.tables.get("profiles")))


def _profile(name: str) -> Hardware:
    if name not in names():
        raise HardwareError(
            f"hardware {name!r} is not known; there are {', '.join(names())}, or custom: {FORM}"
        )
    source, key = file(), f"profiles.{name}"
    entry = table(source.name, key, table(source.name, "profiles", source.tables["profiles"])[name])

    def number(what: str) -> int:
        return fact(source, f"{key}.{what}", entry.get(what)).value

    css = text(source.name, f"{key}.css", entry.get("css"))
    return Hardware(
        name=name,
        description=text(source.name, f"{key}.description", entry.get("description")),
        hw_id=number("hw_id"),
        lram=1024 * number("lram"),
        slices=number("slices"),
        css=css,
        nss=text(source.name, f"{key}.nss", entry.get("nss")),
        dma_bytes_per_cycle=Fraction(number("dma")),
        dma_factor=Fraction(number("dma_factor"), 100),
        cdma_factor=_cdma_factor(css),
    )


def _cdma_factor(css: str) -> Fraction:
    source = file()
    entry = table(source.name, f"css.{css}", table(source.name, "css", source.tables["css"])[css])
    return Fraction(fact(source, f"css.{css}.cdma", entry.get("cdma")).value, 100)


def _whole(given: str, what: str, value: str, least: int, most: int) -> int:
    if not _WHOLE.fullmatch(value) or len(value) > _MOST_DIGITS:
        raise HardwareError(f"hardware {given!r}: {what} {value!r} is not a whole number")
    number = int(value, 16 if value[:2].lower() == "0x" else 10)
    if not least <= number <= most:
        raise HardwareError(
            f"hardware {given!r}: {what} is {number}; {least} to {most} is possible"
        )
    return number


def _positive(given: str, what: str, value: str) -> Fraction:
    if not _DECIMAL.fullmatch(value):
        raise HardwareError(f"hardware {given!r}: {what} {value!r} is not a number such as 0.65")
    number = Fraction(value)
    if not number:
        raise HardwareError(f"hardware {given!r}: {what} is {value}; it must be more than 0")
    return number


def _known(given: str, what: str, value: str, key: str) -> str:
    source = file()
    known = table(source.name, key, source.tables.get(key))
    if value not in known:
        raise HardwareError(
            f"hardware {given!r}: {what} {value!r} is not known; there are {', '.join(known)}"
        )
    return value
