"""`assay prove`: what holds of kernels for all problem sizes, and runs that show what does not."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..launches.source import SUFFIXES
from .failures import FAILED, USAGE, CommandError, errors_end_with
from .options.common import KernelOptions
from .options.files import keep_inputs, require_file
from .options.groups import grouped
from .options.shared import Json

if TYPE_CHECKING:
    from ..proofs import KernelProof, ProofOptions
    from ..repairs.text import Mended

ProvedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="MSL source (.metal), a compiled library (.metallib), or a module (.vmfb), whose "
        "kernels are proved as it launches them.",
        show_default=False,
    ),
]
ProvedFunctions = Annotated[
    list[str] | None,
    typer.Option(
        "--function",
        "-f",
        help="These kernels instead of all, also [bold]'gemm_*'[/bold], and again.",
        show_default=False,
    ),
]
Threadgroup = Annotated[
    str | None,
    typer.Option(
        "--threadgroup",
        "--threads",
        metavar="X[,Y[,Z]]",
        help="Threads of a threadgroup; else what //! lines say, or a usual size.",
    ),
]
Assumed = Annotated[
    list[str] | None,
    typer.Option(
        "--assume",
        help="What launches see to, such as [bold]'grid.x <= n and k % 32 == 0'[/bold]: integer "
        "arguments, grid.x threads, groups.x threadgroups; may be given again.",
        show_default=False,
    ),
]
Lengths = Annotated[
    list[str] | None,
    typer.Option(
        "--buffer",
        metavar="NAME=BYTES",
        help="How long a buffer is, such as [bold]a=4*n[/bold]; may be given again.",
        show_default=False,
    ),
]


MODULE = ".vmfb"
FORMATS = ("text", "json", "sarif")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOutput:
    """How much is done, and where what is found goes."""

    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-j",
            help="Processes that prove, which change no answer; as many as there are cores when "
            "not given.",
            min=1,
            show_default=False,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            help="Seconds after which a property is left undecided (120).",
            min=0.001,
            show_default=False,
        ),
    ] = None
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Prove again what was proved before, and keep nothing."),
    ] = False
    format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(FORMATS)}.", show_default="text"),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where it goes; the text is printed too."),
    ] = None

    rings: Annotated[
        bool,
        typer.Option(
            "--rings",
            help="Tell for rings of buffers which is written, read and idle when, and which "
            "barriers are redundant.",
        ),
    ] = False
    chip: Annotated[
        str | None,
        typer.Option(
            "--chip",
            help="With --rings: what leaving out each redundant barrier gains on this GPU, such as "
            "m4-max, in predicted cycles.",
            show_default=False,
        ),
    ] = None
    lanes: Annotated[
        bool,
        typer.Option(
            "--lanes",
            help="Take nothing but barriers to order lanes of a simdgroup, which else run in lock "
            "step, as [bold]assay check --check lanes[/bold] does.",
        ),
    ] = False
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Look for the smallest change after which refuted kernels are proved, and show "
            "it as a diff, with its cost in predicted cycles. Nothing is applied.",
        ),
    ] = False

    def check_chip(self) -> None:
        """Whether the chip is one that there is, and asked for. Raises CommandError, SpecError."""
        from assay.hw.apple.facts.chips import chip

        if self.chip is None:
            return
        if not self.rings:
            raise CommandError("--chip: it says what barriers cost, with --rings", code=USAGE)
        chip(self.chip)

    def chosen_format(self, *, json: bool) -> str:
        """The name of the format. Raises CommandError."""
        chosen = self.format or ("json" if json else "text")
        if chosen not in FORMATS:
            known = ", ".join(FORMATS)
            raise CommandError(f"--format {chosen}: expected one of {known}", code=USAGE)
        if json and chosen != "json":
            raise CommandError(f"--json and --format {chosen}: which one is meant?", code=USAGE)
        return chosen


@grouped
def prove_command(
    file: ProvedFile,
    function: ProvedFunctions = None,
    threadgroup: Threadgroup = None,
    assume: Assumed = None,
    buffer: Lengths = None,
    *,
    kernel: KernelOptions,
    how: ProofOutput,
    json: Json = False,
) -> None:
    """Prove for all problem sizes that kernels do not race, diverge at barriers, leave memory.

    What a proof rests on is listed. A counterexample is run, and shown as what assay check finds;
    one that no run shows counts as undecided. Ends with exit code 1 when something is refuted, 2
    when something is undecided.

    [bold]Examples[/bold]

      assay prove gemm.metal

      assay prove gemm.metal --function gemm --threadgroup 32,4 --json

      assay prove gemm.metal --assume 'grid.x <= n' --buffer 'c=4*m*n'
    """
    from .terminal import want_json

    errors_end_with(USAGE)  # 1 is for what is refuted
    format_name = how.chosen_format(json=json)
    want_json(format_name == "json")
    how.check_chip()
    require_file(file)
    keep_inputs(how.output, file, kernel.args)
    if file.suffix not in (*SUFFIXES, MODULE):
        raise CommandError(
            f"{file}: expected MSL source (.metal), a library (.metallib) or a module ({MODULE})",
            code=USAGE,
        )
    with _usage_errors():
        source, options = _options(file, function or [], threadgroup, kernel)
        options = replace(
            options,
            assume=tuple(assume or []),
            buffers=_lengths(buffer or []),
            timeout=how.timeout or options.timeout,
            cache=not how.no_cache,
            rings=how.rings,
            lanes=how.lanes,
        )
        sources = {str(file): source}
        proofs = _proved(source, file, options, how.workers, sources)
        if how.chip is not None:
            proofs = _with_gains(proofs, source, file, options, how.chip)
        mended = _repaired(proofs, source, file, options) if how.repair else None
    _write(proofs, sources, mended, format_name, how.output)
    if any(each.is_refuted for each in proofs):
        raise typer.Exit(FAILED)
    if not all(each.is_proved for each in proofs):
        raise typer.Exit(USAGE)


def _options(
    file: Path, functions: list[str], threadgroup: str | None, kernel: KernelOptions
) -> "tuple[str, ProofOptions]":
    from ..checks.inputs import Inputs, read_file
    from ..launches.arguments import size_of
    from ..launches.source import read_source
    from ..proofs import ProofOptions
    from .time_kernels import sizes_given

    source = "" if file.suffix == MODULE else read_source(file)
    return source, ProofOptions(
        functions=tuple(functions),
        threadgroup=size_of("--threadgroup", sizes_given("--threadgroup", threadgroup)),
        macros=kernel.macros(),
        include_paths=tuple(kernel.include or []),
        inputs=read_file(kernel.args) if kernel.args is not None else Inputs(),
    )


def _lengths(texts: list[str]) -> dict[str, str]:
    """`a=4*n` by name."""
    found = {}
    for text in texts:
        name, equals, length = text.partition("=")
        if not (name and equals and length):
            raise CommandError(f"--buffer {text}: expected NAME=BYTES, such as a=4*n", code=USAGE)
        if name.strip() in found:
            raise CommandError(f"--buffer {text}: its length is given twice", code=USAGE)
        found[name.strip()] = length.strip()
    return found


def _proved(
    source: str,
    file: Path,
    options: "ProofOptions",
    workers: int | None,
    sources: dict[str, str],
) -> "list[KernelProof]":
    from ..proofs import prove_module, prove_source
    from .terminal import progress

    found = []
    with progress() as say:
        say(f"proving {file}")
        if file.suffix == MODULE:
            proofs = prove_module(file, options, sources)
        else:
            proofs = prove_source(source, str(file), options, workers=workers)
        for proof in proofs:
            found.append(proof)
            say(f"proved {proof.name}" if proof.is_proved else f"tried {proof.name}")
    return found


def _with_gains(
    proofs: "list[KernelProof]", source: str, file: Path, options: "ProofOptions", chip: str
) -> "list[KernelProof]":
    """What leaving out redundant barriers would gain on a chip."""
    from ..repairs.gains import with_gains
    from .terminal import progress

    found = []
    with progress() as say:
        for proof in proofs:
            say(f"timing {proof.name}")
            found.append(with_gains(proof, source, str(file), options, chip))
    return found


def _repaired(
    proofs: "list[KernelProof]", source: str, file: Path, options: "ProofOptions"
) -> "list[Mended]":
    """What would mend the refuted kernels."""
    from ..repairs import repaired
    from ..repairs.text import Mended, cost_of, line_end_of
    from .terminal import progress

    if not source:
        raise CommandError("--repair is for MSL source, a .metal file", code=USAGE)
    found, end = [], line_end_of(file)
    with progress() as say:
        for name in dict.fromkeys(proof.name for proof in proofs if proof.is_refuted):
            say(f"repairing {name}")
            setups = [proof for proof in proofs if proof.name == name]
            repair = repaired(source, str(file), options, setups)
            cost = None if repair is None else cost_of(repair, source, options)
            found.append(Mended(name, repair, cost, end))
    return found


def _write(
    proofs: "list[KernelProof]",
    sources: dict[str, str],
    mended: "list[Mended] | None",
    format_name: str,
    output: Path | None,
) -> None:
    """Print what was found, or write it to a file and print it as text."""
    from json import dumps

    from ..checks import report_sarif
    from ..proofs.text import proof_text, proofs_json, proofs_report, summary

    text = "".join(f"{proof_text(proof, sources)}\n\n" for proof in proofs)
    file = next(iter(sources))
    text += "".join(f"{each.text(sources[file], file)}\n\n" for each in mended or ())
    text += summary(proofs)
    written = text
    if format_name == "json":
        data = proofs_json(proofs)
        if mended is not None:
            data["repairs"] = [each.to_json(sources[file], file) for each in mended]
        written = dumps(data, indent=2)
    elif format_name == "sarif":
        written = dumps(report_sarif(proofs_report(proofs, sources)), indent=2)
    if output is not None:
        output.write_text(written + "\n", encoding="utf-8")
        written = text
    typer.echo(written)


@contextmanager
def _usage_errors() -> Iterator[None]:
    """What is wrong with what was given is the user's to put right."""
    from assay.compiler.msl import CompileError

    from ..launches.errors import LaunchInputError

    try:
        yield
    except (LaunchInputError, CompileError) as error:
        raise CommandError(str(error), code=USAGE) from None
