"""Command words: the streams that the configuration agents of NSS and slices fetch from LRAM.

`CFG` writes registers, `SYN` waits, `NXT` goes on elsewhere; bit 31 ends a program.
Source: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler at e92ae152.
"""

from ..facts.registers import WORD_BYTES, Image

OPCODE_SHIFT = 28
OPCODE_MASK = 7
CFG_OPCODE, SYN_OPCODE, NXT_OPCODE = 1, 6, 7
CFG = CFG_OPCODE << OPCODE_SHIFT
SYN = SYN_OPCODE << OPCODE_SHIFT
NXT = NXT_OPCODE << OPCODE_SHIFT
LAST = 1 << 31
COUNT_SHIFT = 16
COUNT_MASK = 0xFFF
ADDRESS_MASK = 0xFFFF
LINK_MASK = 0xFFFFFF
SUB_OPERATION_SHIFT = 24
SUB_OPERATIONS = ("wait for all", "wait for any", "set", "clear")


def cfg_words(address: int, values: tuple[int, ...]) -> tuple[int, ...]:
    """A CFG command that writes `values` to consecutive registers from `address` on."""
    return (CFG | len(values) << COUNT_SHIFT | address, *values)


def cfg(image: Image, address: int, count: int) -> tuple[int, ...]:
    """A CFG command that writes `count` words of `image`, from `address` on."""
    return cfg_words(address, image.stretch(address, count))


def next_word(address: int) -> int:
    """The command to go on at an LRAM address."""
    return NXT | address & LINK_MASK


def bytes_of(words: int) -> int:
    """How many bytes so many words take."""
    return WORD_BYTES * words
