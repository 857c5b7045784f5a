"""Kernels that IREE generates for the models that tests try everything on, as they are launched."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.compiler.models import compile_model
from assay.proofs.observed import launch_proofs, launches_kept
from tests.models.zoo import MODELS, find

from .proofs import NO_LIMIT, Part, part_of

PROJECT = "iree"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTask:
    """A model of the zoo, by its name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPart:
    """What was found of one kernel of a model."""

    kernel: str
    part: Part


def model_tasks() -> list[ModelTask]:
    """The models that IREE compiles for Metal."""
    return [ModelTask(name=model.name) for model in MODELS if not model.refused]


def proved_kernels(task: ModelTask) -> Iterator[KernelPart]:
    """What is proved of each kernel that a model launches, for any data."""
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        yield from _proved_in(Path(name), task)


def _proved_in(folder: Path, task: ModelTask) -> Iterator[KernelPart]:
    model = find(task.name)
    path = folder / "model.vmfb"
    path.write_bytes(compile_model(model.source(folder), target="metal", flags=model.flags).data)
    with launches_kept() as launches:
        parameters = {scope: make(folder) for scope, make in model.parameters.items()}
        loaded = assay.load(path, parameters=parameters)
        for _ in range(model.calls):
            loaded.functions[model.function].invoke(model.arguments())
    begin = time.process_time()
    for proof in launch_proofs(launches, timeout=NO_LIMIT, cache=False):
        yield KernelPart(kernel=proof.name, part=part_of(proof, time.process_time() - begin))
        begin = time.process_time()
