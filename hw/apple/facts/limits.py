"""What Apple GPUs allow a Metal compute program to do, as typed values from `limits.toml`."""

from dataclasses import dataclass, fields
from functools import cache

from ...facts import FactFile, SpecError, fact, read_package_file, table


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one compute command; bytes unless the name says otherwise, texels for textures."""

    buffers_per_stage: int
    threadgroup_memory_arguments: int
    threadgroup_memory: int
    threadgroup_memory_alignment: int
    threads_per_threadgroup: int
    inline_bytes: int
    constant_offset_alignment: int
    device_offset_alignment_at_most: int
    blit_alignment: int
    function_constants: int
    thread_execution_width: int
    command_buffers_per_queue: int
    heap_alignment: int
    textures_per_stage: int
    samplers_per_stage: int
    texture_extent: int
    texture_3d_extent: int
    texture_slices: int
    texture_buffer_width: int
    linear_texture_alignment: int
    shader_log_buffer: int
    shader_log_buffer_at_least: int
    shader_log_buffer_at_most: int
    registers_per_thread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixLayout:
    """Which bit of the lane number is which bit of row and column of an 8x8 simdgroup matrix."""

    row_bit_0: int
    row_bit_1: int
    row_bit_2: int
    column_bit_1: int
    column_bit_2: int

    def position(self, lane: int, element: int) -> tuple[int, int]:
        """(row, column) of `element` (0 or 1) of `lane` (0 to 31)."""

        def bit(number: int) -> int:
            return lane >> number & 1

        row = bit(self.row_bit_0) + 2 * bit(self.row_bit_1) + 4 * bit(self.row_bit_2)
        return row, element + 2 * bit(self.column_bit_1) + 4 * bit(self.column_bit_2)


@cache
def limits() -> Limits:
    """The limits of Apple GPUs. Raises SpecError when the data file is wrong."""
    return limits_of(read_package_file("assay.hw.apple.facts", "limits.toml"))


@cache
def matrix_layout() -> MatrixLayout:
    """The layout of 8x8 simdgroup matrices. Raises SpecError when the data file is wrong."""
    file = read_package_file("assay.hw.apple.facts", "limits.toml")
    return MatrixLayout(**_numbers(file, "matrix_layout", _names(MatrixLayout)))


def limits_of(file: FactFile) -> Limits:
    """The limits that `file` states in its table `limits`. Raises SpecError."""
    return Limits(**_numbers(file, "limits", _names(Limits)))


def _names(kind: type[Limits] | type[MatrixLayout]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _numbers(file: FactFile, key: str, names: tuple[str, ...]) -> dict[str, int]:
    entries = table(file.name, key, file.tables.get(key))
    if missing := sorted(set(names) - entries.keys()):
        raise SpecError(f"{file.name}: [{key}] lacks {', '.join(missing)}")
    if unknown := sorted(entries.keys() - set(names)):
        raise SpecError(f"{file.name}: [{key}] has {', '.join(unknown)}, which nothing reads")
    return {name: fact(file, f"{key}.{name}", entries[name]).value for name in names}
