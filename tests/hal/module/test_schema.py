"""The schema that other languages read is the one that the runtime knows."""

import re
from pathlib import Path

from assay.hal.module import codec, records
from assay.hal.module.expressions import OPERANDS, Op

SCHEMA = Path(records.__file__).with_name("module.fbs").read_text()
TABLES = {
    name: re.findall(r"^\s*(\w+):([\w\[\]]+);", body, re.MULTILINE)
    for name, body in re.findall(r"^table (\w+) \{(.*?)^\}", SCHEMA, re.MULTILINE | re.DOTALL)
}


def declared(record: type) -> list[tuple[str, str]]:
    """The fields of a record in the schema's words."""
    words = []
    for name, kind, item in codec.kinds(record):
        kind = "[Instruction]" if kind == "[union]" else kind
        words.append((name, kind if item is None else f"[{item.__name__}]"))
    return words


def test_every_table_has_the_fields_of_its_record() -> None:
    known = {name: kind for name, kind in vars(records).items() if name in TABLES}
    for name, fields in TABLES.items():
        if name != "Instruction":  # which is the union's
            assert fields == declared(known[name]), name


def test_the_union_has_the_instructions_in_their_order() -> None:
    members = re.search(r"union Action \{(.*?)\}", SCHEMA, re.DOTALL)
    assert members is not None
    names = [name.strip() for name in members[1].split(",")]
    assert names == [kind.__name__ for kind in records.INSTRUCTIONS]


def test_the_comment_on_expressions_numbers_all_operations() -> None:
    numbers = dict(re.findall(r"(\d+) ([A-Z]+)\b", SCHEMA))
    assert numbers == {str(op.value): op.name for op in Op}
    assert set(OPERANDS) == {Op.CONST, Op.SYMBOL, Op.DIM, Op.VALUE}


def test_version_and_identifier_are_the_schemas() -> None:
    assert f'file_identifier "{records.IDENTIFIER.decode()}";' in SCHEMA
    assert f"version:int;          // {records.VERSION}" in SCHEMA
