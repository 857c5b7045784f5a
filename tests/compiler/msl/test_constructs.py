"""Every construct of MSL's compute side that programs use compiles and reaches the engine."""

from pathlib import Path

import pytest

from assay.compiler.msl import ConstantValue, compile_library

CONSTRUCTS = sorted((Path(__file__).parent / "constructs").glob("*.metal"))
CONSTANTS: dict[str, ConstantValue] = {"N": 2, "has": True, "q": (1.0, 2.0, 3.0)}


@pytest.mark.parametrize("path", CONSTRUCTS, ids=lambda path: path.stem)
def test_construct_compiles_and_is_read_by_the_engine(path: Path) -> None:
    library = compile_library(path.read_text(), file_name=str(path))
    assert library.function_names
    values: dict[int | str, ConstantValue] = {c.name: CONSTANTS[c.name] for c in library.constants}
    for name in library.function_names:
        kernel = library.function(name, values)
        assert list(kernel.program().function.instructions())
