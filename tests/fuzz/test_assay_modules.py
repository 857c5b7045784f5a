"""Damaged Assay modules end in a clear error, or say what they said before."""

import hashlib
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from assay.hal.module.file import ModuleFile, read_module, write_module
from assay.hal.status import StatusError
from tests.hal.module.drafts import everything

_DIGEST = 32


def original() -> bytes:
    draft = everything()
    return write_module(draft.module(), draft.segments)


def damaged(data: bytes, seed: int, count: int, *, resign: bool) -> Iterator[bytes]:
    """Modules with some bits flipped or words replaced; `resign` makes the checksum right again."""
    chance = random.Random(seed)
    size = 4 + int.from_bytes(data[:4], "little")
    for _ in range(count):
        made = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(size if resign else len(made))
            if chance.random() < 0.5:
                made[at] ^= 1 << chance.randrange(8)
            else:
                word = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, chance.randrange(1 << 32)))
                at = min(at & ~3, len(made) - 4)
                made[at : at + 4] = word.to_bytes(4, "little")
        if resign:
            made[-_DIGEST:] = hashlib.sha256(made[:size]).digest()
        yield bytes(made)


def outcome(data: bytes) -> ModuleFile | None:
    """The module, all of it checked; None for a clear error."""
    try:
        read = read_module(data, "m.assay")
        for number in range(len(read.segments)):
            read.segment(number)
    except StatusError as error:
        assert "m.assay" in error.message and len(error.message) < 1000
        return None
    return read


def changes_are_found(seed: int, count: int) -> None:
    data = original()
    whole = read_module(data)
    for made in damaged(data, seed, count, resign=False):
        found = outcome(made)
        assert found is None or found.module == whole.module


def lies_are_survived(seed: int, count: int) -> None:
    """With a right checksum only the checks of each field stand between a lie and the runtime."""
    refused = 0
    for made in damaged(original(), seed, count, resign=True):
        found = outcome(made)
        refused += found is None
        if found is not None:  # it is a module: then it can be written, and is itself again
            again = read_module(write_module(found.module, found.segments))
            assert again.module == found.module
    assert refused > count // 4


def test_changed_bytes_give_a_clear_error_or_the_same_module() -> None:
    changes_are_found(1, 300)


def test_lies_under_a_right_checksum_are_refused_or_harmless() -> None:
    lies_are_survived(2, 300)


def test_every_truncation_is_refused() -> None:
    data = original()
    for keep in range(0, len(data), 7):
        assert outcome(data[:keep]) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_changes_are_found(seed: int) -> None:
    changes_are_found(100 + seed, 2000)
    lies_are_survived(200 + seed, 2000)


@pytest.mark.slow
def test_damage_takes_no_memory() -> None:
    data = original()
    list(map(outcome, damaged(data, 5, 50, resign=True)))
    tracemalloc.start()
    list(map(outcome, damaged(data, 6, 1000, resign=True)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * len(data) + (4 << 20)
