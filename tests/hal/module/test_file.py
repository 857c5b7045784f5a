from dataclasses import replace

import pytest

from assay.hal.module.file import read_module, write_module
from assay.hal.module.records import VERSION, Module
from assay.hal.status import StatusError

from .drafts import everything


@pytest.fixture(scope="module")
def data() -> bytes:
    draft = everything()
    return write_module(draft.module(), draft.segments)


def test_a_module_is_read_as_it_was_written(data: bytes) -> None:
    draft, read = everything(), read_module(data)
    assert replace(read.module, segments=()) == draft.module()
    assert [bytes(read.segment(n)) for n in range(2)] == draft.segments


def test_writing_twice_gives_the_same_bytes(data: bytes) -> None:
    read = read_module(data)
    assert write_module(read.module, read.segments) == data


def test_segments_lie_at_multiples_of_64_bytes(data: bytes) -> None:
    assert all(segment.offset % 64 == 0 for segment in read_module(data).module.segments)


def test_a_changed_segment_is_refused_when_it_is_used(data: bytes) -> None:
    changed = bytearray(data)
    changed[data.rindex(b"kernels")] ^= 1
    read = read_module(changed)
    with pytest.raises(StatusError, match=r"segment 0 .* wrong checksum"):
        read.segment(0)
    assert read.segment(1)


def test_a_changed_record_is_refused_at_once(data: bytes) -> None:
    changed = bytearray(data)
    changed[data.index(b"no rows")] ^= 1
    with pytest.raises(StatusError, match="checksum"):
        read_module(changed)


@pytest.mark.parametrize("keep", [0, 8, 11, 40, 1000, -33, -1])
def test_a_file_that_is_cut_short_is_refused(data: bytes, keep: int) -> None:
    with pytest.raises(StatusError):
        read_module(data[:keep])


def test_another_file_is_called_no_module() -> None:
    with pytest.raises(StatusError, match="not an Assay module"):
        read_module(b"PK\x03\x04" + bytes(100), "x.zip")


def test_a_module_of_another_version_is_not_guessed_at() -> None:
    draft = everything()
    later = write_module(replace(draft.module(), version=VERSION + 1), draft.segments)
    with pytest.raises(StatusError, match=f"version {VERSION + 1}"):
        read_module(later)


def broken(**changes: object) -> Module:
    """A module whose first model has other records."""
    module = everything().module()
    return replace(module, models=(replace(module.models[0], **changes),))  # type: ignore[arg-type]


def test_a_weight_must_have_the_size_of_its_segment() -> None:
    draft = everything()
    draft.segments[1] += b"more"
    with pytest.raises(StatusError, match=r"weight 0 \(w\) has another size"):
        write_module(draft.module(), draft.segments)


def test_a_tensor_must_lie_inside_its_arena() -> None:
    tensors = everything().module().models[0].tensors
    outside = replace(tensors[2], offset=1 << 20)
    module = broken(tensors=(*tensors[:2], outside, *tensors[3:]))
    with pytest.raises(StatusError, match="ends outside of its arena"):
        write_module(module, everything().segments)


def test_sizes_that_overflow_are_refused() -> None:
    tensors = everything().module().models[0].tensors
    huge = replace(tensors[5], shape=(1 << 40, 1 << 40))
    module = broken(tensors=(*tensors[:5], huge))
    with pytest.raises(StatusError, match="more bytes than can be counted"):
        write_module(module, everything().segments)
