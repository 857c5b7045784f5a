"""Torq executables survive their file form; damaged ones are refused, whatever the damage."""

import io
import random
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from assay.hal.status import StatusError
from assay.hal.torq.archive import Container, file_is_container, read_container, write_container
from assay.hal.torq.check import check
from assay.hal.torq.format import Executable
from assay.hal.torq.read import read_executable
from assay.hal.torq.write import write_executable
from tests.support.torq_executables import executables, multiply


@settings(max_examples=80, deadline=None)
@given(executables())
def test_executables_survive_their_file_form(executable: Executable) -> None:
    data = write_executable(executable)
    assert data[4:8] == b"SNPU"
    assert read_executable(data) == executable


def test_an_archive_holds_stored_aligned_members() -> None:
    container = Container(
        executables=(("a_torq_fb.fb", multiply()), ("b_torq_fb.fb", multiply())), module=b"host"
    )
    data = write_container(container)
    assert read_container(data) == container
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            assert entry.compress_type == zipfile.ZIP_STORED
            name, extra = data[entry.header_offset + 26 : entry.header_offset + 30 : 2]
            assert (entry.header_offset + 30 + name + extra) % 64 == 0


def test_a_bundle_of_an_archive_is_opened_one_level_deep() -> None:
    inner = write_container(Container(executables=(("a_torq_fb.fb", multiply()),)))
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0/model.vmfb", inner)
        archive.writestr("bundle.json", "{}")
    (found,) = read_container(output.getvalue()).executables
    assert found == ("0/model.vmfb/a_torq_fb.fb", multiply())


def outcome(data: bytes) -> None:
    """Reads and checks; anything but success or a StatusError fails the test."""
    try:
        container = read_container(data, "fuzzed")
        for name, executable in container.executables:
            check(executable, name=name)
    except StatusError as error:
        assert str(error)


def damaged(data: bytes, rng: random.Random) -> bytes:
    copy = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(3)
        at = rng.randrange(len(copy))
        if kind == 0:
            copy[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            value = rng.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rng.getrandbits(32)])
            copy[at : at + 4] = value.to_bytes(4, "little")
        else:
            del copy[at : at + rng.randint(1, 64)]
        if not copy:
            break
    return bytes(copy)


@pytest.mark.parametrize("form", ["executable", "archive"])
def test_thousands_of_damaged_files_are_read_or_refused(form: str) -> None:
    executable = multiply()
    data = write_executable(executable)
    if form == "archive":
        data = write_container(Container(executables=(("a_torq_fb.fb", executable),)))
    rng = random.Random(7)
    for _ in range(5000):
        outcome(damaged(data, rng))


@pytest.mark.parametrize("length", [0, 3, 4, 7, 8, 12, 40])
def test_a_truncated_executable_is_refused(length: int) -> None:
    with pytest.raises(StatusError, match="fuzzed"):
        read_container(write_executable(multiply())[:length], "fuzzed")


def test_a_file_is_told_by_its_first_bytes_and_its_members(tmp_path: Path) -> None:
    path = tmp_path / "model.vmfb"
    executable = write_executable(multiply())
    archive = write_container(Container(executables=(("a", multiply()),), module=b"host program"))
    for data, expected in (
        (executable, True),
        (archive, True),
        (b"", False),
        (b"PK\x03\x04 but no more", False),
        (write_container(Container(executables=(), module=b"host program")), False),
    ):
        path.write_bytes(data)
        assert file_is_container(path) is expected
    rng = random.Random(5)
    for _ in range(300):
        path.write_bytes(damaged(archive, rng))
        file_is_container(path)


def test_an_archive_without_executables_is_refused_with_its_members() -> None:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("module.fb", b"a host program")
    with pytest.raises(StatusError, match=r"no Torq executable in the archive; it has module\.fb"):
        read_container(output.getvalue())
    with pytest.raises(StatusError, match="not a Torq executable: 3 bytes"):
        read_container(b"abc")


def test_many_references_to_one_long_vector_do_not_fill_the_memory() -> None:
    data = bytearray(write_executable(multiply()))
    # A vector of actions of 2^29 entries cannot be there.
    data[-4:] = b"\xff\xff\xff\x1f"
    outcome(bytes(data))
