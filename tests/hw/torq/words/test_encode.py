import pytest

from assay.hw.torq.words.commands import NssProgram, SliceProgram
from assay.hw.torq.words.encode.programs import encode
from tests.support.torq_golden import (
    CONVOLVE,
    CONVOLVE_WORDS,
    COPY_AND_CALL,
    COPY_AND_CALL_WORDS,
    LOAD_RUN_STORE,
    LOAD_RUN_STORE_WORDS,
    MULTIPLY,
    MULTIPLY_WORDS,
)


@pytest.mark.parametrize(
    ("program", "expected"),
    [(LOAD_RUN_STORE, LOAD_RUN_STORE_WORDS), (COPY_AND_CALL, COPY_AND_CALL_WORDS)],
    ids=["load, run, store", "copy and call"],
)
def test_command_streams_are_those_of_the_hardware(
    program: NssProgram, expected: tuple[int, ...]
) -> None:
    segments = encode(program)
    assert tuple(word for segment in segments for word in segment.words) == expected
    assert [segment.role for segment in segments] == ["CDS"] * len(program.tasks)


@pytest.mark.parametrize(
    ("program", "expected"),
    [(MULTIPLY, MULTIPLY_WORDS), (CONVOLVE, CONVOLVE_WORDS)],
    ids=["multiply", "convolve"],
)
def test_slice_tasks_are_those_of_the_hardware(
    program: SliceProgram, expected: dict[int, tuple[int, ...]]
) -> None:
    assert {segment.lram_address: segment.words for segment in encode(program)} == expected
