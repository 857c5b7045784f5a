"""The two DMA channels between XRAM and LRAM: strided on the XRAM side, linear in LRAM.

Source of the rules: third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler
at e92ae152.
"""

from collections.abc import Sequence

from ...facts.registers import Image
from ..commands import Ndl, NssTask
from ..errors import EncodeError
from .descriptor import COUNT_BITS, STRIDE_BITS, deltas
from .word import WordShape, word_shape

DMA_AGENTS = ("DIXR", "DILW", "DOLR", "DOXW")
DEFAULT_MTU = 2
OUTER_DIMS = 3
LENGTH_BITS = 24
_ATTRIBUTES = (("user", 0), ("prot", 4), ("cache", 8), ("qos", 12))


def put_dma(image: Image, task: NssTask) -> None:
    """Sets the channels' registers from the task's NDLs. Raises EncodeError."""
    found: dict[str, Ndl] = {}
    for ndl in task.ndls:
        if ndl.agent not in DMA_AGENTS:
            raise EncodeError(
                f"is no agent of an NSS task; there are {', '.join(DMA_AGENTS)}", agent=ndl.agent
            )
        if ndl.agent in found:
            raise EncodeError("is there twice", agent=ndl.agent)
        if ndl.set:
            raise EncodeError(f"has no set {ndl.set}", agent=ndl.agent)
        if ndl.special:
            raise EncodeError("only DEQW has special dimensions", agent=ndl.agent)
        found[ndl.agent] = ndl
    for channel, agents, starts in (
        ("XR", DMA_AGENTS[:2], task.dma_xr_start),
        ("XW", DMA_AGENTS[2:], task.dma_xw_start),
    ):
        given = [agent for agent in agents if agent in found]
        if starts and len(given) < 2:
            raise EncodeError(f"a start of {channel} needs both", agent=" and ".join(agents))
        if given and not starts:
            raise EncodeError(f"{channel} is not started: nothing would use it", agent=given[0])
    if task.dma_xr_start:
        _put_outer(image, "XR", "SRC", found["DIXR"], task)
        _put_linear(image, "XR", found["DILW"])
        _check_lengths(found["DIXR"], found["DILW"])
    if task.dma_xw_start:
        _put_outer(image, "XW", "DST", found["DOXW"], task)
        _put_linear(image, "XW", found["DOLR"])
        _check_lengths(found["DOXW"], found["DOLR"])


def _put_outer(image: Image, channel: str, end: str, ndl: Ndl, task: NssTask) -> None:
    """The strided side: bytes of a row, then up to three loops over rows."""
    shape = _shape(ndl, (1,))
    if not 1 <= len(ndl.high) <= 1 + OUTER_DIMS:
        raise EncodeError(
            f"has {len(ndl.high)} high dimensions; 1 to {1 + OUTER_DIMS} are possible",
            agent=ndl.agent,
        )
    if not 0 <= ndl.base_address < 1 << 32:
        raise EncodeError(
            f"base address {ndl.base_address:#x} does not fit 32 bits", agent=ndl.agent
        )
    registers, letter = f"DMA_{channel}", "ar" if channel == "XR" else "aw"
    attributes = task.dma_xr_attr if channel == "XR" else task.dma_xw_attr
    for name, low in _ATTRIBUTES:
        image.wrap(f"{registers}.CFG.{letter}{name}", attributes >> low)
    mtu = task.dma_mtu_xr if channel == "XR" else task.dma_mtu_xw
    if not 0 <= mtu <= 15:
        raise EncodeError(f"is {mtu}; 0 to 15 are possible", dim=f"dma_mtu_{channel.lower()}")
    image[f"{registers}.CFG.mtu"] = mtu or DEFAULT_MTU
    image[f"{registers}.CFG.xlen"] = _row_bytes(ndl, shape)
    image.wrap(f"{registers}.CFG.pad_val0", task.pad_value)
    image.wrap(f"{registers}.CFG.pad_val1", task.pad_value >> 8)
    image[f"{registers}.CFG.pix_size"] = shape.unit != 1
    _put_pad(image, f"{registers}.CFG", ndl, 0, shape.unit)
    image[f"{registers}.{end}.HEAD.a"] = ndl.base_address
    image[f"{registers}.CFG.nd"] = max(len(ndl.high) - 1, 1)
    image[f"{registers}.{end}.DIMS[0].DIM_SIZE.n"] = 1
    _put_rows(image, f"{registers}.{end}", ndl, shape)


def _put_rows(image: Image, block: str, ndl: Ndl, shape: WordShape) -> None:
    for index, (dim, delta) in enumerate(zip(ndl.high[1:], deltas(ndl.high[1:]), strict=True)):
        where = f"high[{index + 1}]"
        if not 1 <= dim.count < 1 << COUNT_BITS:
            raise EncodeError(f"has {dim.count} steps", agent=ndl.agent, dim=where)
        if dim.stride % shape.unit:
            raise EncodeError(
                f"stride {dim.stride} is no multiple of B, {shape.unit}", agent=ndl.agent, dim=where
            )
        if not -(1 << STRIDE_BITS - 1) <= delta < 1 << STRIDE_BITS - 1:
            raise EncodeError(
                f"stride {dim.stride} less what the inner loops move is {delta}; a signed "
                f"{STRIDE_BITS}-bit number is possible",
                agent=ndl.agent,
                dim=where,
            )
        image[f"{block}.DIMS[{index}].DIM_SIZE.n"] = dim.count
        image[f"{block}.DIMS[{index}].DIM_STRIDE.s"] = delta
        _put_pad(image, f"{block}.DIMS[{index}].DIM_STRIDE", ndl, index + 1, shape.unit)


def _put_pad(image: Image, block: str, ndl: Ndl, index: int, unit: int) -> None:
    pad = ndl.high[index].pad
    if not pad:
        return
    if abs(pad) * unit > 63:
        raise EncodeError(f"pad {pad} is more than 63 bytes", agent=ndl.agent, dim=f"high[{index}]")
    image[f"{block}.pad_ops"] = pad < 0
    image[f"{block}.pad_n"] = abs(pad) * unit


def _put_linear(image: Image, channel: str, ndl: Ndl) -> None:
    """The LRAM side: one run of bytes; XR can deal it out to two places in turns."""
    shape = _shape(ndl, (1, 2) if channel == "XR" else (1,))
    if len(ndl.high) != 1:
        raise EncodeError(f"has {len(ndl.high)} high dimensions; it has 1", agent=ndl.agent)
    if not 0 <= ndl.base_address < 1 << 24:
        raise EncodeError(
            f"base address {ndl.base_address:#x} does not fit 24 bits", agent=ndl.agent
        )
    length = _row_bytes(ndl, shape) * shape.groups
    if length >= 1 << LENGTH_BITS:
        raise EncodeError(f"{length} bytes do not fit {LENGTH_BITS} bits", agent=ndl.agent)
    image[f"DMA_{channel}.CFG.laddr"] = ndl.base_address
    image[f"DMA_{channel}.CFG.llen"] = length
    if channel == "XW":
        return
    stride = shape.group_stride
    if stride % 8 or not -(1 << STRIDE_BITS - 1) <= stride < 1 << STRIDE_BITS - 1:
        raise EncodeError(
            f"stride {stride} of dimension G must be a multiple of 8 within {STRIDE_BITS} bits",
            agent=ndl.agent,
            dim="low",
        )
    image["DMA_XR.CFG.split_en"] = shape.groups != 1
    image["DMA_XR.CFG.strd_div8"] = stride // 8


def _shape(ndl: Ndl, groups: Sequence[int]) -> WordShape:
    shape = word_shape(ndl)
    if shape.bit_addressed or shape.unit not in (1, 2):
        raise EncodeError("dimension B has 1 or 2 bytes", agent=ndl.agent, dim="low")
    if shape.data != 1:
        raise EncodeError("cannot have a dimension D", agent=ndl.agent, dim="low")
    if shape.groups not in groups:
        listed = " or ".join(map(str, groups))
        raise EncodeError(
            f"dimension G has {shape.groups} steps; {listed} is possible",
            agent=ndl.agent,
            dim="low",
        )
    if ndl.base_address % shape.unit:
        raise EncodeError(
            f"base address {ndl.base_address:#x} is no multiple of B, {shape.unit}",
            agent=ndl.agent,
        )
    return shape


def _row_bytes(ndl: Ndl, shape: WordShape) -> int:
    """Bytes of the innermost loop, which must be contiguous."""
    inner = ndl.high[0]
    if inner.stride != shape.unit:
        raise EncodeError(
            f"has stride {inner.stride}; the innermost loop is contiguous: B, {shape.unit}",
            agent=ndl.agent,
            dim="high[0]",
        )
    length = inner.count * shape.unit
    if not 1 <= length < 1 << LENGTH_BITS:
        raise EncodeError(
            f"{length} bytes; 1 to 2^{LENGTH_BITS} - 1 are possible", agent=ndl.agent, dim="high[0]"
        )
    return length


def _check_lengths(strided: Ndl, linear: Ndl) -> None:
    """What one side moves the other must take, or the channel never ends. Padding changes it."""
    if any(dim.pad for dim in strided.high):
        return
    moved = [_moved(strided), _moved(linear)]
    if moved[0] != moved[1]:
        raise EncodeError(
            f"moves {moved[0]} bytes and {linear.agent} {moved[1]}: the channel would hang",
            agent=strided.agent,
        )


def _moved(ndl: Ndl) -> int:
    total = word_shape(ndl).size
    for dim in ndl.high:
        total *= dim.count
    return total
