"""`assay demo`: builds a network, compiles it, runs it emulated, and checks the result."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import FAILED, USAGE, CommandError
from .options.iree import NoCache
from .options.shared import Json

if TYPE_CHECKING:
    from rich.table import Table

    from ..compare import Comparison
    from ..elements import Array

MODELS = ("digits", "mobilenet")


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One run of a model on both devices. Times are seconds."""

    title: str
    images: "Array"
    labels: "list[int] | None"
    emulated: "Array"
    expected: "Array"
    comparison: "Comparison"
    kernels: int
    compile_seconds: float
    first_seconds: float
    emulated_seconds: float
    cpu_seconds: float


def demo_command(
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="[bold]digits[/bold] (small, fitted on the spot) or [bold]mobilenet[/bold] "
            "(224x224, random weights).",
        ),
    ] = "digits",
    keep: Annotated[
        Path | None,
        typer.Option("--keep", help="A folder to keep model.onnx, model.vmfb and images.npy in."),
    ] = None,
    no_cache: NoCache = False,
    json: Json = False,
) -> None:
    """Run a real network end to end: build it, compile it with IREE, run it, compare with the CPU.

    Nothing is downloaded. Ends with exit code 1 when the two devices disagree.

    [bold]Examples[/bold]

      assay demo

      assay demo --model mobilenet

      assay demo --keep here
    """
    from assay.sim.native.work_folder import work_folder

    from .terminal import print_json, progress, want_json

    want_json(json)
    if model not in MODELS:
        raise CommandError(f"--model {model}: expected {' or '.join(MODELS)}", code=USAGE)
    with progress() as say, work_folder() as folder:
        work = keep or folder
        work.mkdir(parents=True, exist_ok=True)
        outcome = _run(model, work, say, cache=not no_cache)
    if json:
        print_json(_json(model, outcome))
    else:
        _show(outcome)
    if not outcome.comparison.equal:
        raise typer.Exit(FAILED)


def _run(model: str, work: Path, say: Callable[[str], None], *, cache: bool) -> Outcome:
    import numpy as np

    from assay.compiler.models import compile_model

    from ..compare import compare
    from ..contents import read_contents
    from ..module import load
    from ..reference import CpuModule

    say("building the network")
    onnx, function, title, images, labels = _build(model)
    source = work / "model.onnx"
    source.write_bytes(onnx)
    np.save(work / "images.npy", images)
    start = time.perf_counter()
    metal = compile_model(source, work / "model.vmfb", progress=say, cache=cache)
    compile_seconds = time.perf_counter() - start
    host = compile_model(source, target="llvm-cpu", progress=say, cache=cache)
    cpu = CpuModule(host.data)
    say("running on the emulated Metal device")
    module = load(metal.data)
    start = time.perf_counter()
    emulated = module[function](images)
    first = time.perf_counter() - start
    emulated_seconds, emulated = _timed(lambda: module[function](images))
    say("running on the CPU")
    cpu.invoke(function, [images])
    cpu_seconds, expected = _timed(lambda: cpu.invoke(function, [images])[0])
    return Outcome(
        title=title,
        images=images,
        labels=labels,
        emulated=np.asarray(emulated),
        expected=np.asarray(expected),
        comparison=compare(emulated, expected),
        kernels=len(read_contents(metal.data, "model.vmfb").kernels),
        compile_seconds=compile_seconds,
        first_seconds=first,
        emulated_seconds=emulated_seconds,
        cpu_seconds=cpu_seconds,
    )


def _build(model: str) -> tuple[bytes, str, str, "Array", "list[int] | None"]:
    """An ONNX file, its function, a title, input images, and what they show when that is known."""
    import numpy as np

    random = np.random.default_rng(1)
    if model == "digits":
        from ..examples import digits

        labels = np.arange(digits.CLASSES)
        images = digits.draw(labels, random)
        onnx = digits.fit().to_onnx(len(labels))
        return onnx, "digits", "a CNN that reads digits, fitted just now", images, labels.tolist()
    from ..examples import mobilenet

    image = random.standard_normal((1, 3, 224, 224)).astype(np.float32)
    title = "a MobileNetV2 at 224x224 with random weights"
    return mobilenet.build(), "mobilenet", title, image, None


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def _show(outcome: Outcome) -> None:
    from .terminal import show

    table = _scores(outcome) if outcome.labels is None else _pictures(outcome, outcome.labels)
    show(table, *_summary(outcome))


def _table(outcome: Outcome, **options: Any) -> "Table":
    from rich import box
    from rich.table import Table

    title = f"[bold]Assay demo[/bold]: {outcome.title}"
    return Table(title=title, title_style="", title_justify="left", box=box.ROUNDED, **options)


def _scores(outcome: Outcome) -> "Table":
    """One row per image: its class, and how probable both devices find it."""
    table = _table(outcome)
    for name in ("image", "class", "emulated Metal", "llvm-cpu", "difference"):
        table.add_column(name, justify="right")
    for row, (got, expected) in enumerate(zip(outcome.emulated, outcome.expected, strict=True)):
        best = int(got.argmax())
        table.add_row(
            str(row),
            str(best),
            f"{got[best]:.6f}",
            f"{expected[best]:.6f}",
            f"{abs(float(got[best]) - float(expected[best])):.1e}",
        )
    return table


def _pictures(outcome: Outcome, labels: list[int]) -> "Table":
    """The images in rows of five, each with what both devices make of it."""
    table = _table(outcome, show_header=False, padding=(0, 0), show_lines=True)
    cells = []
    for image, label, got, expected in zip(
        outcome.images, labels, outcome.emulated, outcome.expected, strict=True
    ):
        best = int(got.argmax())
        colour = "green" if best == label else "yellow"
        cells.append(
            f"[{colour}]{_picture(image)}[/]\n"
            f"[bold {colour}]  reads it as {best}[/]\n"
            f"Metal {got[best]:.6f}\n"
            f"CPU   {expected[best]:.6f}"
        )
    for start in range(0, len(cells), _PER_ROW):
        table.add_row(*cells[start : start + _PER_ROW])
    return table


def _summary(outcome: Outcome) -> list[str]:
    result = outcome.comparison
    verdict = (
        f"[bold green]equal to IREE's CPU backend[/bold green]: largest error "
        f"{result.max_absolute:.1e} ({result.max_ulp} ulp) over {result.elements} numbers"
        if result.equal
        else f"[bold red]different from IREE's CPU backend[/bold red] in {result.bad} of "
        f"{result.elements} numbers, by up to {result.max_absolute:.1e}"
    )
    return [
        verdict,
        f"{outcome.kernels} Metal kernels; compiled by IREE in {outcome.compile_seconds:.1f} s; "
        f"first run {outcome.first_seconds:.2f} s, then {outcome.emulated_seconds:.3f} s "
        f"(llvm-cpu {outcome.cpu_seconds:.3f} s)",
    ]


_PER_ROW = 5
_SHADES = " ░▒▓█"


def _picture(image: "Array") -> str:
    """A 28x28 image as 14 columns and 7 rows of shades."""
    cells = image.reshape(7, 4, 14, 2).mean(axis=(1, 3))
    levels = (cells / cells.max() * (len(_SHADES) - 1) + 0.3).astype(int)
    return "\n".join("".join(_SHADES[level] for level in row) for row in levels)


def _json(model: str, outcome: Outcome) -> dict[str, Any]:
    result = outcome.comparison
    return {
        "model": model,
        "equal": result.equal,
        "classes": outcome.emulated.argmax(axis=1).tolist(),
        "labels": outcome.labels,
        "max_absolute": result.max_absolute,
        "max_ulp": result.max_ulp,
        "kernels": outcome.kernels,
        "seconds": {
            "compile": outcome.compile_seconds,
            "first_run": outcome.first_seconds,
            "emulated": outcome.emulated_seconds,
            "llvm_cpu": outcome.cpu_seconds,
        },
    }
