"""The models that are profiled: networks of a size that people run, and the zoo of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.compiler.models import compile_model
from tests.models.zoo import MODELS

from .networks import NETWORKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A model as both sides run it: a module for each, a function of them, and its arguments."""

    name: str
    metal: Path
    cpu: Path
    function: str
    arguments: list[Any]
    parameters: dict[str, Path]


def names(*, zoo: bool) -> list[str]:
    """The models that can be named; of the zoo those with a peer, and only if asked for."""
    theirs = [model.name for model in MODELS if model.reference is None] if zoo else []
    return [*NETWORKS, *theirs]


def without_peer() -> list[str]:
    """Models of the zoo that IREE does not link for the CPU: the tests compare them with NumPy."""
    return [model.name for model in MODELS if model.reference is not None]


def prepared(name: str, folder: Path) -> Subject:
    """A model, compiled for both sides.

    Raises:
        KeyError: if no model is called so.
    """
    if name in NETWORKS:
        make, shape = NETWORKS[name]
        source = folder / f"{name}.onnx"
        source.write_bytes(make())
        random = np.random.default_rng(0)
        arguments: list[Any] = [random.standard_normal(shape).astype(np.float32)]
        return _compiled(name, source, folder, "", arguments, {}, ())
    model = {model.name: model for model in MODELS}[name]
    given = {scope: make(folder) for scope, make in model.parameters.items()}
    source = model.source(folder)
    return _compiled(name, source, folder, model.function, model.arguments(), given, model.flags)


def _compiled(
    name: str,
    source: Path,
    folder: Path,
    function: str,
    arguments: list[Any],
    parameters: dict[str, Path],
    flags: tuple[str, ...],
) -> Subject:
    modules = {target: folder / f"{name}.{target}.vmfb" for target in ("metal", "llvm-cpu")}
    compile_model(source, modules["metal"], target="metal", flags=flags)
    compile_model(source, modules["llvm-cpu"], target="llvm-cpu", flags=flags)
    return Subject(
        name=name,
        metal=modules["metal"],
        cpu=modules["llvm-cpu"],
        function=function or name_of_entry(modules["metal"]),
        arguments=arguments,
        parameters=parameters,
    )


def name_of_entry(module: Path) -> str:
    """The plain entry point of a module of one function."""
    import assay

    functions = assay.load(module).functions
    return next(name for name in functions if not name.startswith("__") and "$" not in name)
