"""Register agents: loops that do not travel as descriptors but fold into slice registers.

Fields are modulo their width: the largest count is stored as 0. Source of the rules:
third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler at e92ae152.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ...facts.registers import Image
from ..commands import Dim, Ndl, SliceTask
from ..errors import EncodeError

REPEATS = "IJKLMN"
"""Tags of loops that repeat something: their stride is 0."""
TAGS = "BDGSWT" + REPEATS
COMPARING = ("AMAX", "AMIN", "GT", "GE", "EQ")
SUMMING = ("ACC", "SACC")


@dataclass(frozen=True, slots=True)
class Loops:
    """A register agent's dimensions by tag; an absent one has one step and stride 0."""

    ndl: Ndl
    by_tag: Mapping[str, Dim]

    def count(self, tag: str) -> int:
        """Steps of the dimension with that tag."""
        return self.by_tag[tag].count if tag in self.by_tag else 1

    def stride(self, tag: str) -> int:
        """Its stride."""
        return self.by_tag[tag].stride if tag in self.by_tag else 0

    @property
    def repeats(self) -> int:
        """How often a word is used again: M times N."""
        return self.count("M") * self.count("N")

    def need(self, tag: str, choices: Collection[int]) -> int:
        """The steps of a dimension, which must be one of `choices`. Raises EncodeError."""
        count = self.count(tag)
        if count not in choices:
            if isinstance(choices, range):
                listed = f"{choices.start} to {choices.stop - 1}"
            else:
                listed = ", ".join(map(str, choices))
            raise self.error(tag, f"has {count} steps; {listed} are possible")
        return count

    def need_stride(self, tag: str, choices: Collection[int]) -> int:
        """The stride of a dimension, which must be one of `choices` if it has several steps."""
        stride = self.stride(tag)
        if self.count(tag) > 1 and stride not in choices:
            listed = ", ".join(map(str, choices))
            raise self.error(tag, f"has stride {stride}; {listed} are possible")
        return stride

    def need_repeats(self, bits: int) -> int:
        """M times N, which must fit `bits` bits with the largest stored as 0."""
        if not 1 <= self.repeats <= 1 << bits:
            raise self.error("N", f"M x N is {self.repeats}; 1 to 2^{bits} are possible")
        return self.repeats

    def error(self, tag: str, rule: str) -> EncodeError:
        """A broken rule of one dimension."""
        return EncodeError(rule, agent=self.ndl.name, dim=tag)


def loops(ndl: Ndl) -> Loops:
    """The dimensions of a register agent by tag. Raises EncodeError."""
    found: dict[str, Dim] = {}
    for section, dims in (("low", ndl.low), ("high", ndl.high)):
        for index, dim in enumerate(dims):
            _add(ndl, f"{section}[{index}]", dim, found)
    if ndl.special:
        raise EncodeError("only DEQW has special dimensions", agent=ndl.name, dim="special[0]")
    return Loops(ndl, found)


def _add(ndl: Ndl, where: str, dim: Dim, found: dict[str, Dim]) -> None:
    if dim.count < 1 and not (ndl.agent in ("CEDW", "CEWW", "ACBW") and dim.tag == "T"):
        raise EncodeError(f"has {dim.count} steps", agent=ndl.name, dim=where)
    if dim.tag not in TAGS or not dim.tag:
        if dim.count == 1:
            return
        raise EncodeError(
            f"tag {dim.tag or 'none'} means nothing here; there are {', '.join(TAGS)}",
            agent=ndl.name,
            dim=where,
        )
    if dim.tag in REPEATS and dim.stride:
        raise EncodeError(
            f"{dim.tag} repeats: its stride is 0, not {dim.stride}", agent=ndl.name, dim=where
        )
    if dim.tag == "B" and dim.stride != 1:
        raise EncodeError(f"B has stride 1, not {dim.stride}", agent=ndl.name, dim=where)
    known = found.get(dim.tag)
    if known is None or known.count == 1:
        found[dim.tag] = dim
    elif dim.tag == "D":
        found["D"] = Dim(count=known.count * dim.count, stride=known.stride, tag="D")
    else:
        raise EncodeError(f"there are two {dim.tag} dimensions", agent=ndl.name, dim=where)


def put_register_agent(image: Image, ndl: Ndl, task: SliceTask) -> None:
    """Folds one register agent into `image`. Raises EncodeError."""
    put = _PUT.get(ndl.agent)
    if put is not None:
        if ndl.set not in (0, 1) or (ndl.set == 1 and ndl.agent not in _SECOND_SET):
            raise EncodeError(f"has no set {ndl.set}", agent=ndl.agent)
        put(image, loops(ndl), task)


def _put_data_read(image: Image, dims: Loops, task: SliceTask) -> None:
    """CEDR: which data feed each ALU cycle."""
    repeat = dims.need("I", (1, 2, 4))
    unit = dims.need("B", (1, 2, 4))
    group = repeat * unit * dims.count("D")
    if group not in (8, 16, 32, 64):
        raise dims.error("D", f"I x B x D is {group} bytes; 8, 16, 32, 64 are possible")
    groups = dims.need("G", (1, 4, 8, 16, 32))
    if group * groups > 256:
        raise dims.error("G", f"I x B x D x G is {group * groups} bytes; 256 are possible")
    stride = dims.stride("D")
    if stride not in (unit, 2, 4, 16, 36):
        raise dims.error("D", f"has stride {stride}; {unit}, 2, 4, 16, 36 are possible")
    repeats = dims.need_repeats(24 if dims.ndl.set == 0 else 8)
    steps = dims.need("S", range(1, 5))
    dims.need_stride("S", (1, 2, 4))
    block = _block(dims)
    spread = group == 16 and stride == 16
    image[f"{block}.cedr_i_size"] = repeat % 4
    image[f"{block}.cedr_b_size"] = unit % 4
    image[f"{block}.cedr_g_size"] = groups == 1
    image[f"{block}.cedr_d_size"] = 0 if spread else {64: 0, 32: 3, 16: 2, 8: 1}[group]
    image[f"{block}.cedr_d_step"] = 2 if spread else _data_step(stride, unit)
    image[f"{block}.cedr_s_size"] = 1 if spread else steps % 4
    image[f"{block}.cedr_l_size"] = dims.need("L", range(1, 5)) % 4
    image.wrap(f"{block}.cedr_n_size", repeats)
    if dims.ndl.set == 0:
        _put_remap(image, unit, task)
        _put_kernel_columns(image, task)


def _data_step(stride: int, unit: int) -> int:
    return 0 if stride == unit else {2: 1, 4: 2, 36: 3}.get(stride, 0)


def _put_remap(image: Image, unit: int, task: SliceTask) -> None:
    """How partial sums of wide data are put together when the ALU does not multiply."""
    if task.alu_op0_mode != "DBYP":
        return
    op1 = task.alu_op1_mode
    if op1 not in ("BYP", "MUL", *SUMMING):
        index = op1 in COMPARING
        image["CE.AC_P.rmp_g_size"] = {1: 0, 2: 2, 4: 1}[unit]
        image["CE.AC_P.rmp_w_size"] = 1 if index else {1: 1, 2: 2, 4: 0}[unit]
        image["CE.AC_P.rmp_b_size"] = not index
    elif op1 in SUMMING and task.alu_format == "BF" and unit == 4:
        image["CE.AC_P.rmp_g_size"] = 1
        image["CE.AC_P.rmp_w_size"] = 2


def _put_kernel_columns(image: Image, task: SliceTask) -> None:
    """Wider kernels take three columns from each word: S follows from the kernel."""
    width = task.kernel_left + 1 + task.kernel_right
    if width == 1:
        image["CE.CTRL.cedr_i1_size"] = 1
        image["CE.CTRL.cedr_i2_size"] = 1
        return
    stride = task.stride or 1
    even = -(-width // stride)
    image["CE.CTRL.cedr_s_size"] = 3
    image["CE.CTRL.cedr_s_break0"] = -even % 3
    image["CE.CTRL.cedr_s_break1"] = -(width - even) % 3
    image["CE.CTRL.cedr_i1_size"] = -(-width // (3 * stride))
    image["CE.CTRL.cedr_i1_break"] = stride == 2 and width % 6 == 1
    image["CE.CTRL.cedr_i2_size"] = stride != 2


def _put_weight_read(image: Image, dims: Loops, task: SliceTask) -> None:
    """CEWR: which weights feed each ALU cycle, and how they are spread over the lanes."""
    unit = dims.need("B", (1, 2, 4))
    data, groups = dims.need("D", range(1, 33)), dims.need("G", (1, 4, 8, 16))
    image["CE.CTRL.cewr_b_size"] = unit % 4
    image["CE.CTRL.cewr_j_size"] = dims.need("J", (1, 2, 4)) % 4
    image["CE.CTRL.cewr_g_size"] = {16: 0, 8: 3, 4: 2, 1: 1}[groups]
    image["CE.CTRL.cewr_d_size"] = data == 1
    image["CE.CTRL.cewr_l_size"] = dims.need("L", range(1, 5)) % 4
    steps = dims.need("S", range(1, 37))
    dims.need_stride("S", (unit * data * groups,))
    image["CE.CTRL.cewr_s_size"] = steps
    pad = dims.by_tag["S"].pad if "S" in dims.by_tag else 0
    if not 1 - steps <= pad <= 0:
        raise dims.error("S", f"has pad {pad}; {1 - steps} to 0 are possible")
    image["CE.CTRL.cewr_s_break"] = -pad
    words = dims.count("W")
    if words == 1:
        image.wrap("CE.CTRL.cewr_n_size", dims.need_repeats(24))
        return
    if dims.repeats != 1:
        raise dims.error("W", "W and M x N share one counter; one of them has one step")
    if words > 1 << 24:
        raise dims.error("W", f"has {words} steps; 2^24 are possible")
    image["CE.COMM.cewr_has_w"] = 1
    image.wrap("CE.CTRL.cewr_n_size", words)


def _put_partials(image: Image, dims: Loops, task: SliceTask) -> None:
    """CEPR and CEPW: N steps fill a block of partial sums, T blocks."""
    if dims.ndl.set == 1:
        image.wrap("CE.CTRL_C1.cepr_n_size", dims.need_repeats(8))
        return
    repeats, blocks = dims.need_repeats(16), dims.need("T", range(1, (1 << 24) + 1))
    image.wrap("CE.CTRL.cepw_n_size", repeats)
    image.wrap("CE.CTRL.cepw_t_size", blocks)


def _put_partials_out(image: Image, dims: Loops, task: SliceTask) -> None:
    """ACPR: in which order vectors of partial sums leave."""
    image["CE.AC_P.cepr_b_size"] = dims.need("B", (1, 2, 4)) % 4
    data, stride = dims.need("D", (2, 4, 8, 16)), dims.stride("D")
    if stride > 64 or stride < 0 or stride % 4:
        raise dims.error("D", f"has stride {stride}; a multiple of 4 up to 64 is possible")
    image.wrap("CE.AC_P.cepr_d_step", stride // 4)
    image["CE.AC_P.cepr_d_size"] = data % 16
    image["CE.AC_P.cepr_s1_size"] = dims.need("S", range(1, 17))
    step = dims.need_stride("S", (16, 32, 64, 128, 256))
    image["CE.AC_P.cepr_s1_step"] = {16: 4, 32: 3, 64: 2, 128: 1}.get(step, 0)
    image["CE.AC_P.cepr_s0_size"] = 1


def _put_sums(image: Image, dims: Loops, task: SliceTask) -> None:
    """ACPW: how many partial sums make one result."""
    dims.need("B", (4,))
    data = dims.need("D", (1, 2, 4))
    if data * dims.count("G") != 16:
        raise dims.error("G", f"D x G is {data * dims.count('G')}; 16 is possible")
    image["DE_ACT.sum_pgrp"] = {1: 0, 2: 1, 4: 2}[data]


def _put_bias_read(image: Image, dims: Loops, task: SliceTask) -> None:
    """ACBR: how often each {bias, scale} is used."""
    unit = dims.need("B", (2, 4, 8))
    dims.need("D", (1, 4, 8, 16))
    dims.need("G", (1,))
    image["DE_ACT.a_glb"] = unit != 8
    image["DE_ACT.b_size"] = unit != 2
    image.wrap("DE_ACT.m_size", dims.need_repeats(24))


def _put_data_write(image: Image, dims: Loops, task: SliceTask) -> None:
    """CEDW: how many segments of the data memory a block fills; T of 0 goes round the memory."""
    image[f"{_block(dims)}.cedw_s_size"] = dims.need("S", range(1, 5)) % 4
    if dims.ndl.set == 0:
        image["CE.COMM.cedw_dis"] = dims.count("T") == 0


def _put_weight_write(image: Image, dims: Loops, task: SliceTask) -> None:
    """CEWW: how many segments of the weight memory a block fills."""
    image["CE.CTRL.ceww_s_size"] = dims.need("S", (1, 2, 4)) % 4


def _put_latch(image: Image, dims: Loops, task: SliceTask) -> None:
    """ALDW: how the ALU latches data."""
    block = _block(dims)
    image[f"{block}.aldw_d_size"] = dims.need("D", (64, 256)) == 64
    image[f"{block}.aldw_l_size"] = dims.need("L", (1, 2, 4)) % 4
    image[f"{block}.aldw_s_size"] = dims.need("S", (1, 4)) % 4


def _put_nothing(image: Image, dims: Loops, task: SliceTask) -> None:
    """ACBW, ALPR, ALPW: follow from the others; no register holds them."""


def _block(dims: Loops) -> str:
    return "CE.CTRL" if dims.ndl.set == 0 else "CE.CTRL_C1"


_PUT: Mapping[str, Callable[[Image, Loops, SliceTask], None]] = {
    "CEDR": _put_data_read,
    "CEWR": _put_weight_read,
    "CEPR": _put_partials,
    "CEPW": _put_partials,
    "ACPR": _put_partials_out,
    "ACPW": _put_sums,
    "ACBR": _put_bias_read,
    "CEDW": _put_data_write,
    "CEWW": _put_weight_write,
    "ALDW": _put_latch,
    "ACBW": _put_nothing,
    "ALPR": _put_nothing,
    "ALPW": _put_nothing,
}
REGISTER_AGENTS = tuple(_PUT)
_SECOND_SET = ("CEDR", "CEPR", "CEPW", "CEDW", "ALDW")
