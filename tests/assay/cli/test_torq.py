"""torq: command lists to words and back, and how it fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.hw.torq.words.commands_json import dumps, loads
from assay.hw.torq.words.decode.programs import decode
from assay.hw.torq.words.encode.programs import encode, memory_image
from tests.support.torq_golden import CONVOLVE, CONVOLVE_WORDS, LOAD_RUN_STORE

Assay = Callable[..., Any]


@pytest.fixture
def convolve(tmp_path: Path) -> Path:
    path = tmp_path / "convolve.json"
    path.write_text(dumps(CONVOLVE))
    return path


@pytest.fixture
def words(assay: Assay, convolve: Path, tmp_path: Path) -> Path:
    path = tmp_path / "words.json"
    path.write_text(assay("torq", "encode", convolve, "--json").out)
    return path


def test_encode_prints_words_and_places(assay: Assay, convolve: Path, words: Path) -> None:
    out = assay("torq", "encode", convolve).out
    assert "CDS of task 0 at LRAM 0x05000\n  100e0080 40000000" in out
    assert "DEQW of task 0 at LRAM 0x05280" in out
    found = json.loads(words.read_text())["segments"]
    assert {
        segment["address"]: tuple(int(word, 16) for word in segment["words"]) for segment in found
    } == CONVOLVE_WORDS


def test_decode_gives_the_list_back(assay: Assay, words: Path) -> None:
    out = assay("torq", "decode", words, "--at", "0x5000").out
    assert loads(out) == decode(memory_image(encode(CONVOLVE)), 0x5000, "slice")


def test_an_image_of_lram_is_disassembled(assay: Assay, tmp_path: Path) -> None:
    words = memory_image(encode(LOAD_RUN_STORE))
    path = tmp_path / "lram.bin"
    path.write_bytes(b"".join(words[address].to_bytes(4, "little") for address in sorted(words)))
    out = assay("torq", "words", path, "--at", "0", "--kind", "nss").out
    assert "DMA_XW.DST.DIMS[0].DIM_STRIDE s=56" in out
    assert out.rstrip().endswith("SYN wait for all: xw, last")
    found = json.loads(assay("torq", "words", path, "--at", "0", "--kind", "nss", "--json").out)
    assert len(found["words"]) == len(words)


def test_a_list_that_breaks_a_rule_is_refused_with_it(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text('{"kind": "slice", "tasks": [{"act_rsh": 64}]}')
    done = assay("torq", "encode", path)
    assert (done.code, "task 0, act_rsh: is 64; 0 to 63" in done.err) == (1, True)
    path.write_text('{"kind": "slice", "tasks": [{"speed": 1}]}')
    assert "tasks[0]: has speed" in assay("torq", "encode", path).err
    path.write_text("[")
    assert "not a command list" in assay("torq", "encode", path).err


def test_words_that_are_no_program_are_refused(assay: Assay, words: Path, tmp_path: Path) -> None:
    assert "no word is there" in assay("torq", "decode", words, "--at", "0x4000").err
    assert "LRAM 0x05100" in assay("torq", "words", words, "--at", "0x5100").err
    assert "expected an address" in assay("torq", "decode", words, "--at", "here").err
    assert assay("torq", "decode", tmp_path / "none.bin", "--at", "0").code == 2
    other = tmp_path / "other.json"
    other.write_text('{"segments": 3}')
    assert "not words as" in assay("torq", "decode", other, "--at", "0").err
