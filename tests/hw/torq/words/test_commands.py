import json

import pytest

from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.commands_json import CommandError, dumps, from_json, loads

COPY = SliceProgram(
    address=0x5000,
    tasks=(
        SliceTask(
            ndls=(
                Ndl(agent="REF"),
                Ndl(
                    agent="DEDR",
                    low=(Dim(count=1, stride=1, tag="B"), Dim(count=64, stride=1, tag="D")),
                    high=(Dim(count=1, tag="G"),),
                    base_address=0x1000,
                    descriptor_address=0x5100,
                ),
            ),
            alu_op0_mode="DBYP",
            act_lsh=(0, 8, 0, 8),
            table=(1, 2),
        ),
    ),
)
LOAD = NssProgram(tasks=(NssTask(slc_start=(True, False), css_mbx=(1, 2, 3, 4)),))


@pytest.mark.parametrize("program", [COPY, LOAD])
def test_a_program_survives_json(program: SliceProgram | NssProgram) -> None:
    assert loads(dumps(program)) == program


def test_numbers_may_be_hexadecimal_text_and_flags_zero_or_one() -> None:
    read = from_json(
        {
            "kind": "nss",
            "address": "0x280",
            "tasks": [{"slc_cfg_addr": ["0x10", 0], "css_start": 1}],
        }
    )
    assert read == NssProgram(address=0x280, tasks=(NssTask(slc_cfg_addr=(16, 0), css_start=True),))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a program is an object, and this is a list"),
        ({"kind": "gpu"}, '"kind" must be one of slice, nss'),
        ({"kind": "nss"}, "the program lacks tasks"),
        ({"kind": "nss", "tasks": 3}, "tasks: must be a list, and is 3"),
        ({"kind": "nss", "tasks": [{"speed": 1}]}, r"tasks\[0\]: has speed; there are ndls"),
        ({"kind": "nss", "tasks": [{"css_mbx": [1]}]}, r"tasks\[0\]\.css_mbx: must be a list of 4"),
        ({"kind": "nss", "tasks": [{"css_start": 2}]}, "must be true or false, and is 2"),
        ({"kind": "nss", "tasks": [{"cdma_len": "ten"}]}, "'ten' is not a number"),
        ({"kind": "nss", "tasks": [{"cdma_len": 1.5}]}, "must be a whole number, and is 1.5"),
        (
            {"kind": "slice", "tasks": [{"ndls": [{"agent": "REF", "low": [{"stride": 1}]}]}]},
            r"tasks\[0\]\.ndls\[0\]\.low\[0\]: lacks count",
        ),
        ({"kind": "slice", "tasks": [{"ndls": [{"agent": 5}]}]}, "agent: must be text, and is 5"),
    ],
)
def test_what_is_no_command_list_is_refused_with_its_place(value: object, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        from_json(value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, json.dumps("x"), b"\xff\xfe\x00"])
def test_text_that_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(CommandError):
        loads(text)
