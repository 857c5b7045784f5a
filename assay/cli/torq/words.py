"""`assay torq`: command lists of the NPU to words, and words to command lists or text."""

import json as json_format
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError
from ..options.files import require_file
from ..options.shared import Json
from .opt import Elide, opt_command

if TYPE_CHECKING:
    from assay.hw.torq.words.decode.stream import Read

torq_app = typer.Typer(
    help="Encode and decode programs of the Torq NPU, and lower models to it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
_PER_LINE = 8


class Kind(StrEnum):
    """Whose program it is."""

    SLICE = "slice"
    NSS = "nss"


MemoryFile = Annotated[
    Path,
    typer.Argument(
        metavar="WORDS",
        help="What [bold]assay torq encode --json[/bold] prints, or an image of LRAM (any other "
        "name than .json).",
        show_default=False,
    ),
]
At = Annotated[
    str, typer.Option("--at", help="LRAM address of the first command word.", show_default=False)
]
WordsFile = Annotated[
    Path,
    typer.Argument(
        metavar="WORDS",
        help="An executable, what [bold]assay torq encode --json[/bold] prints, or an image of "
        "LRAM.",
        show_default=False,
    ),
]
OptionalAt = Annotated[
    str,
    typer.Option(
        "--at", help="LRAM address of the first command word; of words only.", show_default=False
    ),
]
KindOption = Annotated[Kind, typer.Option("--kind", help="Whose command words these are.")]


@torq_app.command("encode")
def encode_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="LIST.json", help="A command list as JSON.", show_default=False),
    ],
    json: Json = False,
) -> None:
    """Print the words of a command list, and where in LRAM they live.

    The format is in the documentation: [bold]Torq programs[/bold]. A rule of the hardware that the
    list breaks is named with task, agent and dimension.

    [bold]Examples[/bold]

      assay torq encode conv.json

      assay torq encode conv.json --json > words.json
    """
    from assay.hw.torq.words.commands_json import loads
    from assay.hw.torq.words.encode.programs import encode

    from ..terminal import print_json, want_json

    want_json(json)
    segments = encode(loads(_read(file)))
    if json:
        print_json(
            {
                "segments": [
                    {
                        "role": segment.role,
                        "task": segment.task,
                        "address": segment.lram_address,
                        "xram_address": segment.xram_address,
                        "words": [f"{word:08x}" for word in segment.words],
                    }
                    for segment in segments
                ]
            }
        )
        return
    for segment in segments:
        typer.echo(f"{segment.role} of task {segment.task} at LRAM {segment.lram_address:#07x}")
        for start in range(0, len(segment.words), _PER_LINE):
            row = segment.words[start : start + _PER_LINE]
            typer.echo("  " + " ".join(f"{word:08x}" for word in row))


@torq_app.command("decode")
def decode_command(file: MemoryFile, at: At, kind: KindOption = Kind.SLICE) -> None:
    """Print the command list, as JSON, whose words these are.

    Of several lists with the same words it is one; words that no list has are refused with the
    address of the first that does not fit.

    [bold]Examples[/bold]

      assay torq decode words.json --at 0x5a00

      assay torq decode lram.bin --at 0 --kind nss
    """
    from assay.hw.torq.words.commands_json import dumps
    from assay.hw.torq.words.decode.programs import decode

    typer.echo(dumps(decode(_memory(file), _address(at), kind.value)).rstrip())


@torq_app.command("words")
def words_command(
    file: WordsFile,
    at: OptionalAt = "",
    kind: KindOption = Kind.SLICE,
    elide: Elide = None,
    json: Json = False,
) -> None:
    """Disassemble a program: each word with its registers and fields, links followed.

    Of an executable all programs, as TorqHW: a listing that [bold]assay torq opt[/bold] makes the
    same executable of.

    [bold]Examples[/bold]

      assay torq words lram.bin --at 0x5a00

      assay torq words model.torq --elide 64
    """
    from ..terminal import print_json, want_json
    from .inspect import is_torq

    want_json(json)
    if file.is_file() and is_torq(file):
        if at or json:
            raise CommandError("--at and --json are for words, not for executables", code=USAGE)
        _listing(file, elide)
        return
    if not at:
        raise CommandError("--at is missing: where the command words begin", code=USAGE)
    from assay.hw.torq.words.disassemble import disassemble

    lines = disassemble(_memory(file), _address(at), kind.value)
    if json:
        print_json({"words": [line.json() for line in lines]})
    else:
        typer.echo("\n".join(line.text for line in lines))


def _listing(file: Path, elide: int | None) -> None:
    from assay.compiler.torq.hw.dialect import hw_text
    from assay.hal.torq.archive import read_container
    from assay.hal.torq.listing.module import executable_op

    for _, executable in read_container(file.read_bytes(), str(file)).executables:
        typer.echo(hw_text(executable_op(executable), most=elide))


torq_app.command("opt")(opt_command)


def _read(path: Path) -> bytes:
    require_file(path)
    return path.read_bytes()


def _address(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise CommandError(f"--at {text}: expected an address such as 0x5a00", code=USAGE) from None


def _memory(path: Path) -> "Read":
    """A function that reads words out of a file."""
    from assay.hw.torq.words.decode.stream import reader

    data = _read(path)
    return reader(_segments(path, data) if path.suffix == ".json" else data)


def _segments(path: Path, data: bytes) -> dict[int, int]:
    """Words by address out of `encode --json`'s text."""
    words: dict[int, int] = {}
    try:
        for segment in json_format.loads(data)["segments"]:
            for index, word in enumerate(segment["words"]):
                words[int(segment["address"]) + 4 * index] = int(word, 16) & 0xFFFFFFFF
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CommandError(
            f"{path}: not words as `assay torq encode --json` prints them: {error}", code=USAGE
        ) from error
    return words
