"""`assay compile --device torq`: a model in, an executable for the NPU out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.compiler.torq.schedule.compile import Compiled
    from assay.compiler.torq.schedule.options import Options


def compile_for_npu(model: Path, output: Path | None, options: "Options", *, json: bool) -> None:
    """Compile a model, and print what its schedule is expected to do.

    An output that is a `.vmfb` gets a host program, too. Raises ModelError and StatusError.
    """
    from ...npu.models import compile_npu_model
    from ..terminal import note_doubts, print_json, progress, show

    path = output or model.with_suffix(".torq")
    with progress() as say:
        compiled = compile_npu_model(model, say, options)
        data = compiled.file(path.suffix)
        path.write_bytes(data)
    made = compiled.compiled
    note_doubts(model, made.doubts)
    counts = _counts(made)
    if json:
        summary = made.summary.to_json()
        doubts = [str(doubt) for doubt in made.doubts]
        found = {"output": str(path), "bytes": len(data), "undefined": doubts, **counts}
        print_json({**found, "schedule": summary})
        return
    show(
        f"{path}: {len(data):,} bytes, {counts['slice_runs']:,} runs of slices, "
        f"{counts['transfers']:,} transfers, {counts['blocks']:,} blocks of commands in "
        f"{counts['programs']:,} programs\n"
        f"{made.summary}"
    )


def _counts(made: "Compiled") -> dict[str, Any]:
    notes = made.program.notes
    return {
        "slice_runs": len(notes.slice_runs),
        "transfers": len(notes.transfers),
        "blocks": made.program.blocks,
        "programs": len(made.program.starts),
    }
