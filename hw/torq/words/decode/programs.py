"""Words in LRAM as programs: the inverse of `encode`, exact or refused.

Several command lists have the same words; the one given is canonical. What is not kept: names of
equal modes (AMIN for GT, SI and I for weights that pass through), loops of agents that leave no
trace (T of writers, ACBW), borders above and below a kernel where padding does not show them,
widths of data that no register tells apart, the order of agents, a channel's default burst (2 is
written out), and strides of dimensions of one step where no word holds them.
"""

from collections.abc import Mapping

from ..commands import NssProgram, SliceProgram
from ..encode.programs import encode, memory_image
from ..errors import DecodeError, EncodeError
from .nss import decode_nss
from .slice import decode_slice
from .stream import Read, reader

Program = SliceProgram | NssProgram


def decode(
    memory: Mapping[int, int] | bytes | bytearray | memoryview | Read, address: int, kind: str
) -> Program:
    """The program (`kind` slice or nss) whose command words begin at an LRAM address.

    `memory` is words by byte address, an image of LRAM, or a function that reads a word. Raises
    DecodeError when the words are no program or `encode` would not give just them.
    """
    if kind not in ("slice", "nss"):
        raise ValueError(f"kind is {kind!r}; slice and nss are possible")
    read = memory if callable(memory) else reader(memory)
    program: Program = decode_slice(read, address) if kind == "slice" else decode_nss(read, address)
    check(program, read)
    return program


def check(program: Program, read: Read) -> None:
    """Raises DecodeError at the first word that the program's encoding has otherwise."""
    try:
        words = memory_image(encode(program))
    except EncodeError as error:
        raise DecodeError(program.address, f"no legal program: {error}") from error
    for address in sorted(words):
        found = read(address)
        if found != words[address]:
            raise DecodeError(
                address,
                f"{found:#010x} is inconsistent: the rest of the program makes it "
                f"{words[address]:#010x}",
            )
