"""The shape of one transfer: low dimensions collapsed to bytes B, data D, groups G; DEQW's plane.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from dataclasses import dataclass

from ..commands import Dim, Ndl
from ..errors import EncodeError


@dataclass(frozen=True, slots=True, kw_only=True)
class WordShape:
    """`groups` groups of `data` data of `unit` bytes (bits when `bit_addressed`); strides alike.

    A dimension is contiguous when it has one step or goes on where the one inside it ended.
    """

    unit: int = 1
    data: int = 1
    data_stride: int = 0
    data_contiguous: bool = True
    groups: int = 1
    group_stride: int = 0
    group_contiguous: bool = True
    bit_addressed: bool = False

    @property
    def size(self) -> int:
        """All of it, in bytes (bits)."""
        return self.unit * self.data * self.groups


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneShape:
    """DEQW's output plane: up to two X and two Y loops over pixels of `unit` bytes."""

    unit: int
    x_count: tuple[int, int]
    x_stride: tuple[int, int]
    y_count: tuple[int, int]
    y_stride: tuple[int, int]


def word_shape(ndl: Ndl) -> WordShape:
    """The low dimensions of `ndl`, merged. Raises EncodeError unless they are B, D, G."""
    parts = _Low(ndl)
    for index, dim in enumerate(ndl.low):
        parts.add(index, dim)
    return WordShape(
        unit=parts.unit,
        data=parts.data.count,
        data_stride=parts.data.stride,
        data_contiguous=parts.data.contiguous,
        groups=parts.group.count,
        group_stride=parts.group.stride,
        group_contiguous=parts.group.contiguous,
        bit_addressed=parts.bits,
    )


@dataclass(slots=True)
class _Merged:
    """A dimension being merged from several."""

    count: int = 1
    stride: int = 0
    contiguous: bool = True

    def open(self, dim: Dim, natural: int) -> None:
        self.count = dim.count
        self.stride = dim.stride if dim.count > 1 else natural
        self.contiguous = dim.count == 1 or dim.stride == natural


class _Low:
    """Takes low dimensions one after the other; `natural` is the stride that goes on contiguously.

    The hardware's interface starts with 1, whatever B is not there, and a dimension of one step
    does not move it.
    """

    def __init__(self, ndl: Ndl) -> None:
        self.agent = ndl.name
        self.unit = 1
        self.bits = False
        self.data = _Merged()
        self.group = _Merged()
        self.state = ""
        self.natural = 1

    def add(self, index: int, dim: Dim) -> None:
        where = f"low[{index}]"
        if dim.count < 1:
            raise EncodeError(f"has {dim.count} steps", agent=self.agent, dim=where)
        if index == 0 and dim.tag in ("B", "b"):
            self._add_unit(dim, where)
        elif dim.tag in ("B", "b"):
            raise EncodeError(
                f"only the first low dimension can be tagged {dim.tag}", agent=self.agent, dim=where
            )
        else:
            self._add_loop(dim, where)
        if dim.count > 1:
            self.natural = dim.count * dim.stride

    def _add_unit(self, dim: Dim, where: str) -> None:
        if dim.count > 1 and dim.stride != 1:
            raise EncodeError(
                f"dimension {dim.tag} has stride 1, not {dim.stride}", agent=self.agent, dim=where
            )
        self.unit = dim.count
        if dim.tag == "b":
            if dim.count % 8:
                self.bits = True
            else:
                self.unit = dim.count // 8

    def _add_loop(self, dim: Dim, where: str) -> None:
        contiguous = dim.count == 1 or dim.stride == self.natural
        if self.state == "" and dim.tag != "G":
            self.data.open(dim, self.natural)
            self.state = "D"
        elif self.state == "D" and dim.tag != "G" and contiguous:
            self.data.count *= dim.count
        elif self.state in ("", "D") and dim.tag != "D":
            self.group.open(dim, self.natural)
            self.state = "G"
        elif self.state == "G" and dim.tag != "D" and contiguous:
            self.group.count *= dim.count
        else:
            raise EncodeError(
                "low dimensions are B, then contiguous D, then contiguous G; this one "
                f"(tag {dim.tag or 'none'}, stride {dim.stride}) would be a third",
                agent=self.agent,
                dim=where,
            )


def plane_shape(ndl: Ndl) -> PlaneShape:
    """The special dimensions of `ndl`. Raises EncodeError for a sequence that is not B X X Y Y."""
    unit, natural, state = 1, 1, ""
    loops: dict[str, list[_Merged]] = {"X": [], "Y": []}
    for index, dim in enumerate(ndl.special):
        where = f"special[{index}]"
        if dim.count < 1:
            raise EncodeError(f"has {dim.count} steps", agent=ndl.name, dim=where)
        if index == 0 and dim.tag == "B":
            if dim.count > 1 and dim.stride != 1:
                raise EncodeError(
                    f"dimension B has stride 1, not {dim.stride}", agent=ndl.name, dim=where
                )
            unit = dim.count
        else:
            state = _add_plane_loop(ndl, where, dim, loops, state, natural)
        if dim.count > 1:
            natural = dim.count * dim.stride
    x, y = (_pair(loops[tag]) for tag in "XY")
    return PlaneShape(unit=unit, x_count=x[0], x_stride=x[1], y_count=y[0], y_stride=y[1])


def _add_plane_loop(
    ndl: Ndl, where: str, dim: Dim, loops: dict[str, list[_Merged]], state: str, natural: int
) -> str:
    """Adds an X or Y loop; states: '' nothing yet, X, XX, Y, YY. Gives the next state."""
    follows = {"": "XY", "X": "XY", "XX": "Y", "Y": "Y", "YY": ""}[state]
    if dim.tag not in ("X", "Y") or dim.tag not in follows:
        raise EncodeError(
            f"special dimensions are B, X, X, Y, Y in that order; tag {dim.tag or 'none'} cannot "
            f"follow {state or 'the beginning'}",
            agent=ndl.name,
            dim=where,
        )
    if state == dim.tag and (dim.count == 1 or dim.stride == natural):
        loops[dim.tag][0].count *= dim.count
    else:
        merged = _Merged()
        merged.open(dim, natural)
        loops[dim.tag].append(merged)
    return state + dim.tag if state == dim.tag else dim.tag


def _pair(loops: list[_Merged]) -> tuple[tuple[int, int], tuple[int, int]]:
    """(counts, strides) of up to two loops; an absent one has one step and stride 0."""
    both = [*loops, _Merged(), _Merged()]
    return (both[0].count, both[1].count), (both[0].stride, both[1].stride)
