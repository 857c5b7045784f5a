"""`assay diff` of Assay modules: what each of their kernels makes, against IREE's CPU backend."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..failures import USAGE, CommandError
from .check import inputs_of

if TYPE_CHECKING:
    from ...assay_module import AssayModule
    from ...elements import Array
    from ..diff_sides import Sides, Wanted

CPU = "cpu"
Say = Callable[[str], None]


def assay_sides(path: Path, device: str, model: Path | None, wanted: "Wanted", say: Say) -> "Sides":
    """A module on devices that it was built for, and on the CPU: all tensors that both make.

    The reference is the module's own model for the CPU, or one that is built of `model`; then what
    the NPU makes is compared with TOSA on integers instead of floats between quantisers. Each
    kernel is given what the reference made of its inputs, so that differences do not add up.
    """
    from ...assay_module import load_assay
    from ...module_tensors import npu_tensors, tensors_of
    from ...text_values import parse_inputs
    from ..diff_sides import Sides

    if wanted.reference or wanted.parameters or wanted.against != "llvm-cpu":
        raise CommandError(
            "Assay modules are compared with --against llvm-cpu; leave out --reference and "
            "--parameters",
            code=USAGE,
        )
    say("loading")
    module = load_assay(path, device)
    values = parse_inputs(wanted.inputs or [])
    given = inputs_of(module, values) if values else _drawn(module, wanted.seed)
    cache = not wanted.iree.no_cache
    reference = _reference(path, model, module, given, say, cache=cache)
    say("running on the CPU")
    instead = tensors_of(reference, given)
    expected = dict(instead)
    if model is not None:
        expected |= npu_tensors(module, model, given, instead, say, cache=cache)
    say(f"running on {device}")
    got = tensors_of(module, given, instead)
    names = [name for name in got if name in expected]
    return Sides(
        function=module.name,
        got=[got[name] for name in names],
        expected=[expected[name] for name in names],
        names=names,
        alone=len(got) - len(names),
    )


def _drawn(module: "AssayModule", seed: int) -> "list[Array]":
    """Inputs that are made up: normal floats, integers over all of their type."""
    import numpy as np

    random = np.random.default_rng(seed)

    def drawn(like: "Array") -> Any:
        if like.dtype.kind not in "iu":
            return random.standard_normal(like.shape)
        limits = np.iinfo(like.dtype)
        return random.integers(limits.min, limits.max, like.shape, endpoint=True)

    return [np.asarray(drawn(each), each.dtype) for each in module.zeros()]


def _reference(
    path: Path,
    model: Path | None,
    module: "AssayModule",
    values: "list[Array]",
    say: Say,
    *,
    cache: bool,
) -> "AssayModule":
    from assay.hal.module.file import read_file

    from ...assay_module import load_assay

    if model is not None:
        say("building for the CPU")
        return load_assay(_built(model, module, values, cache=cache), CPU)
    whole = read_file(path).module
    if any([whole.devices[number] for number in each.devices] == [CPU] for each in whole.models):
        return load_assay(path, CPU)
    raise CommandError(
        f"{path}: nothing in it runs on the CPU alone; give the model that it was built from with "
        "--model",
        code=USAGE,
    )


def _built(model: Path, module: "AssayModule", values: "list[Array]", *, cache: bool) -> bytes:
    """A model for the CPU, each operator by itself, so that all of its tensors can be compared."""
    from assay.hal.module.build.build import build_module

    names = module.context.inputs
    shapes = {name: array.shape for name, array in zip(names, values, strict=True)}
    return build_module(model, devices=[CPU], shapes=[shapes], apart=True, cache=cache)
