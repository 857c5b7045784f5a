import pytest

from assay.hal.module.file import read_module, write_module
from assay.hal.module.text import from_text, to_text
from assay.hal.status import StatusError

from .drafts import everything


@pytest.fixture(scope="module")
def data() -> bytes:
    draft = everything()
    return write_module(draft.module(), draft.segments)


@pytest.fixture(scope="module")
def lines(data: bytes) -> list[str]:
    return list(to_text(read_module(data)))


def test_text_becomes_the_same_file(data: bytes, lines: list[str]) -> None:
    assert from_text("\n".join(lines), "m.assay.txt") == data


def test_there_is_a_line_for_each_record(lines: list[str]) -> None:
    assert lines[0].startswith("Module(version=3, name='everything'")
    assert "      While(condition=" in "\n".join(lines)
    assert sum(line.startswith("  Model(") for line in lines) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  Model(name='other'", "  Nodel(name='other'", "Nodel is no record"),
        ("version=3", "version=2", "1: this is version 2; only 3 can be read"),
        ("points=1", "dots=1", "Model has the fields name, devices, points"),
        ("points=1", "points='1'", "points cannot be 1"),
        ("points=1", "points=1099511627776", "points cannot be"),
        ("points=1", "points=open('x')", "malformed node"),
        ("    Arena(", "   Arena(", "records are indented by 2"),
        ("    Arena(", "  Arena(", "Tensor cannot be inside of Arena"),
        ("  Symbol(", "  Symbol)(", "unmatched"),
        ("place=3, where=0", "place=3, where=9", "the weight of tensor"),
    ],
)
def test_a_wrong_line_is_an_error_that_names_it(
    lines: list[str], old: str, new: str, message: str
) -> None:
    text = "\n".join(lines)
    assert old in text
    with pytest.raises(StatusError, match=message):
        from_text(text.replace(old, new, 1), "m.assay.txt")


def test_no_module_is_an_error() -> None:
    with pytest.raises(StatusError, match="there is no module in it"):
        from_text("\n\n", "m.assay.txt")
