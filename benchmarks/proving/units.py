"""Which kernels are counted: one instantiation of each kernel of a project's sources.

Kernels whose names differ in element types and numbers alone (widths, tile sizes) are one unit. A
seed decides which of its instantiations is proved.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.msl import CompileError, CompileOptions, compile_library

_WIDE = re.compile(
    r"bfloat16(?:_t)?|float(?:16|32)(?:_t)?|complex64(?:_t)?|u?int(?:8|16|32|64)(?:_t)?|bool_"
)
_TYPES = re.compile(
    r"(?<![a-zA-Z])("
    r"bfloat|float|half|bool|bf16|f64|f32|f16|i64|i32|i16|u64|u32|u16|u8|i8"
    r"|i?q\d_(?:[01K]|xxs|xs|s|m|nl)|tq\d_0|mxfp4|nvfp4|mxfp8|fp4|fp8|affine"
    r")(?![a-zA-Z])"
)
_NUMBER = re.compile(r"\d+")
_SAME = re.compile(r"(?:_?T(?![a-z]))+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where a project has its kernels.

    Attributes:
        name: the project.
        folder: below the folder that the project is fetched to, the one with its `.metal` files.
        includes: folders of headers, below the same.
        repository: where it is public.
    """

    name: str
    folder: str
    includes: tuple[str, ...]
    repository: str
    left_out: tuple[str, ...] = ()


PROJECTS = (
    Project(
        name="mlx",
        folder="mlx/backend/metal/kernels",
        includes=("",),
        repository="ml-explore/mlx",
    ),
    Project(
        name="ggml",
        folder="src/ggml-metal",
        includes=("src/ggml-metal", "src"),
        repository="ggml-org/ggml",
    ),
    Project(
        name="candle",
        folder="candle-metal-kernels/src/metal_src",
        includes=("candle-metal-kernels/src/metal_src",),
        repository="huggingface/candle",
    ),
    Project(
        name="metal-flash-attention",
        folder="",
        includes=("Sources",),
        repository="philipturner/metal-flash-attention",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One kernel that stands for its instantiations.

    Attributes:
        project: its project's name.
        file: below the project's folder of kernels.
        kernel: the one that is proved.
        family: its name without element types and numbers.
        instances: how many kernels have that.
    """

    project: str
    file: str
    kernel: str
    family: str
    instances: int = 1


def family_of(name: str) -> str:
    """A kernel's name without element types and numbers."""
    plain = _TYPES.sub("T", _WIDE.sub("T", name))
    return _SAME.sub("_T", _NUMBER.sub("N", plain))


def options_for(project: Project, root: Path) -> CompileOptions:
    """How a project's files are compiled."""
    return CompileOptions(include_paths=include_paths(project, root))


def include_paths(project: Project, root: Path) -> tuple[Path, ...]:
    """Folders of a project's headers."""
    return tuple(root / each for each in project.includes)


def units_of(project: Project, root: Path, seed: int) -> tuple[list[Unit], dict[str, str]]:
    """The units of a project that lies in a folder, and files that do not compile, with reasons."""
    families: dict[str, list[tuple[str, str]]] = {}
    refused: dict[str, str] = {}
    folder = root / project.folder
    for path in sorted(folder.rglob("*.metal")):
        file = str(path.relative_to(folder))
        try:
            for name in _names(path, options_for(project, root)):
                families.setdefault(family_of(name), []).append((file, name))
        except CompileError as error:
            refused[file] = str(error).partition("\n")[0].replace(f"{root}/", "")
    found = [_chosen(project, family, families[family], seed) for family in sorted(families)]
    return found, refused


def _names(path: Path, options: CompileOptions) -> Iterator[str]:
    library = compile_library(
        path.read_text(), options=options, file_name=str(path), each_alone=True
    )
    yield from library.function_names


def _chosen(project: Project, family: str, kernels: list[tuple[str, str]], seed: int) -> Unit:
    file, kernel = random.Random(f"{seed} {family}").choice(sorted(kernels))
    return Unit(
        project=project.name, file=file, kernel=kernel, family=family, instances=len(kernels)
    )
