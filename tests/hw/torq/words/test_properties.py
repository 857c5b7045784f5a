"""Words and command lists of the NPU are each other's inverse, and damaged words are refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.torq.words.commands import NssProgram, SliceProgram
from assay.hw.torq.words.commands_json import dumps, loads
from assay.hw.torq.words.decode.programs import decode
from assay.hw.torq.words.encode.programs import encode, memory_image
from assay.hw.torq.words.errors import DecodeError, EncodeError
from tests.support.torq_golden import CONVOLVE, COPY_AND_CALL, LOAD_RUN_STORE, MULTIPLY
from tests.support.torq_programs import nss_programs, slice_programs

GOLDEN = {
    "load, run, store": LOAD_RUN_STORE,
    "copy and call": COPY_AND_CALL,
    "multiply": MULTIPLY,
    "convolve": CONVOLVE,
}


def kind(program: SliceProgram | NssProgram) -> str:
    return "slice" if isinstance(program, SliceProgram) else "nss"


def check_inverse(program: SliceProgram | NssProgram) -> None:
    words = memory_image(encode(program))
    decoded = decode(words, program.address, kind(program))
    assert memory_image(encode(decoded)) == words
    assert decode(words, decoded.address, kind(program)) == decoded
    assert loads(dumps(decoded)) == decoded


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_words_decode_to_a_program_with_just_these_words(name: str) -> None:
    check_inverse(GOLDEN[name])


def test_a_decoded_convolution_is_the_one_encoded() -> None:
    (task,) = decode(memory_image(encode(CONVOLVE)), CONVOLVE.address, "slice").tasks
    (given_task,) = CONVOLVE.tasks
    for name in ("kernel_left", "kernel_top", "kernel_bottom", "pad_top", "pad_bottom", "act_rsh"):
        assert getattr(task, name) == getattr(given_task, name)
    inputs = next(ndl for ndl in task.ndls if ndl.agent == "DEDR")
    assert inputs.base_address == 0x1000
    assert [(dim.count, dim.stride) for dim in inputs.high[1:4]] == [(1, 3), (3, 8), (2, 64)]


@settings(max_examples=30, deadline=None)
@given(slice_programs())
def test_slice_programs_survive_their_words(program: SliceProgram) -> None:
    check_inverse(program)


@settings(max_examples=30, deadline=None)
@given(nss_programs())
def test_nss_programs_survive_their_words(program: NssProgram) -> None:
    check_inverse(program)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(GOLDEN)), st.data())
def test_damaged_words_decode_to_their_program_or_are_refused(
    name: str, data: st.DataObject
) -> None:
    program = GOLDEN[name]
    words = memory_image(encode(program))
    for address in data.draw(st.lists(st.sampled_from(sorted(words)), min_size=1, max_size=3)):
        bit = data.draw(st.integers(0, 31))
        words[address] = data.draw(st.sampled_from([words[address] ^ 1 << bit, 0, 0xFFFFFFFF]))
    try:
        decoded = decode(words, program.address, kind(program))
    except DecodeError:
        return
    for address, word in memory_image(encode(decoded)).items():
        assert words[address] == word


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["slice", "nss"]))
def test_arbitrary_memory_never_crashes_the_decoder(image: bytes, what: str) -> None:
    with pytest.raises((DecodeError, EncodeError)):
        decode(image, 0, what)
