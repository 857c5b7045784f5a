"""Memory agents: what a transfer of DEDR, DEWR, DEBR or DEQW is, as slice registers.

The loops over transfers are descriptors in LRAM (`encode_descriptor`). Source of the rules:
third_party/torq-hw/ct/torq_api.c of github.com/synaptics-torq/torq-compiler at e92ae152.
"""

from collections.abc import Collection

from ...facts.modes import modes
from ...facts.registers import Image
from ..commands import Ndl, SliceTask
from ..errors import EncodeError
from .word import PlaneShape, WordShape, plane_shape, word_shape

DBUS_BYTES = 72
WBUS_BYTES = 32
BBUS_BYTES = 32
QBUS_BYTES = 64
BIAS_WORDS = (4, 8, 16, 32)
SPLIT_SIZES = (16, 32, 64)
PLANE_STRIDE_BITS = 18
STRIDE_BITS = 24


def put_input(image: Image, ndl: Ndl) -> WordShape:
    """DEDR: up to 72 bytes from up to four addresses. Gives the word's shape."""
    shape = word_shape(ndl)
    _need_bytes(ndl, shape, (1, 2, 4))
    _need(ndl, shape.data_contiguous, "dimension D must be contiguous")
    _need_one_of(ndl, "dimension G", shape.groups, (1, 2, 4))
    stride = shape.group_stride
    _need(
        ndl,
        stride % shape.unit == 0,
        f"stride {stride} of dimension G is no multiple of B, {shape.unit}",
    )
    _need_signed(ndl, "stride of dimension G", stride, STRIDE_BITS)
    _need_size(ndl, shape.size, DBUS_BYTES)
    image["DE_D_R.simd_size"] = {1: 0, 2: 1, 4: 2}[shape.groups]
    image["DE_D_R.simd_strd"] = stride
    image["DE_D_R.w_size"] = shape.data * shape.unit
    image["DE_D_R.pix_size"] = shape.unit == 2
    if ndl.sync_mode:
        image["DE_D_R.simd_mode"] = ndl.sync_mode == "P"
        image["DE_D_R.ignt_id"] = 0
    image["DE_D_R.sync_idx"] = _sync_index(ndl)
    return shape


def put_gather(image: Image, ndl: Ndl) -> None:
    """DEDR1: the offsets of a gather."""
    shape = word_shape(ndl)
    _need_bytes(ndl, shape, (1, 2, 4))
    _need_plain(ndl, shape)
    _need_size(ndl, shape.size, DBUS_BYTES)
    image["DE_D_RX.w_size"] = shape.size
    image["DE_D_RX.enable"] = 1
    if ndl.sync_mode:
        image["DE_D_R.simd_mode"] = ndl.sync_mode == "P"
        image["DE_D_R.ignt_id"] = 1
    image["DE_D_RX.sync_idx"] = _sync_index(ndl)


def put_weights(image: Image, ndl: Ndl, task: SliceTask) -> None:
    """DEWR: weights of up to 32 bytes after expansion."""
    shape = word_shape(ndl)
    _need_plain(ndl, shape)
    if task.wbus_format not in ("I", "BF"):
        raise EncodeError(f"is {task.wbus_format!r}; I and BF are possible", dim="wbus_format")
    if _passes_through(shape, task):
        _need_bytes(ndl, shape, (1, 2, 4))
        size = shape.size
    else:
        size = shape.data * _put_expansion(image, ndl, shape, task)
    _need_size(ndl, size, WBUS_BYTES)
    image.wrap("DE_W_R.w_size", size)  # 32 is stored as 0


def _passes_through(shape: WordShape, task: SliceTask) -> bool:
    """Whether weights are in memory as they are on the bus."""
    if shape.bit_addressed:
        return False
    if task.wbus_format == "I":
        return task.wmem_format in ("SI", "UI")
    return shape.unit == 2 and task.wmem_format == "BF"


def _put_expansion(image: Image, ndl: Ndl, shape: WordShape, task: SliceTask) -> int:
    """Sets how weights are expanded; gives the bytes of one on the bus."""
    bits = shape.unit if shape.bit_addressed else 8 * shape.unit
    known = modes("weight_format").modes.values()
    found = [m for m in known if m.word("format") == task.wmem_format and m.code("bits") == bits]
    if not found or task.wbus_format not in found[0].word("wbus").split():
        choices = ", ".join(
            f"{m.word('format')} of {m.code('bits')} bits"
            for m in known
            if task.wbus_format in m.word("wbus").split()
        )
        raise EncodeError(
            f"{task.wmem_format} weights of {bits} bits cannot become {task.wbus_format}; "
            f"possible are {choices}; and whole bytes of SI or UI as they are (I), BF of 2 bytes",
            agent=ndl.name,
            dim="wmem_format",
        )
    image["DE_W_R.d_comp"] = 1
    image["DE_W_R.d_cfmt"] = found[0].code()
    if task.wbus_format == "BF":
        image["DE_W_R.d_type"] = 2
        return 2
    return 1


def put_bias(image: Image, ndl: Ndl) -> int:
    """DEBR: {bias, scale} words. Gives their bytes per transfer."""
    shape = word_shape(ndl)
    _need(ndl, not shape.bit_addressed, "is addressed in bytes; the first dimension cannot be b")
    _need_plain(ndl, shape)
    _need_one_of(ndl, "size of a transfer in bytes", shape.size, BIAS_WORDS)
    image.wrap("DE_B_R.w_size", shape.size)  # 32 is stored as 0
    image["DE_B_R.disabled"] = 0
    if ndl.sync_mode:
        _need(ndl, ndl.sync_mode == "R", "the sync mode of DEBR is R or none")
        image["DE_B_R.ignt_id"] = 0
    image["DE_B_R.sync_idx"] = _sync_index(ndl)
    return shape.size


def put_scatter(image: Image, ndl: Ndl) -> None:
    """DEBR1: the offsets of a scatter."""
    shape = word_shape(ndl)
    _need(ndl, not shape.bit_addressed, "is addressed in bytes; the first dimension cannot be b")
    _need_plain(ndl, shape)
    _need_size(ndl, shape.size, BBUS_BYTES)
    image.wrap("DE_B_RX.w_size", shape.size)  # 32 is stored as 0
    image["DE_B_RX.enable"] = 1
    if ndl.sync_mode:
        _need(ndl, ndl.sync_mode == "R", "the sync mode of DEBR1 is R or none")
        image["DE_B_R.ignt_id"] = 1
    image["DE_B_RX.sync_idx"] = _sync_index(ndl)
    image["DE_Q_W.sct_mode"] = 1


def put_output(image: Image, ndl: Ndl, task: SliceTask) -> int:
    """DEQW: results of up to 64 bytes to one or two addresses. Gives the bytes of one result."""
    shape = word_shape(ndl)
    _need_bytes(ndl, shape, (1, 2, 4))
    _need_size(ndl, shape.size, QBUS_BYTES)
    image.wrap("DE_Q_W.w_size", shape.size)  # 64 is stored as 0
    for field in ("secv_en", "split_en", "split_strd"):
        image[f"DE_Q_W.{field}"] = 0  # What a DEQW before this one set.
    if task.act_disable == 0xF:
        image["DE_Q_W.fill_en"] = 1
        image.wrap("DE_Q_W.fill_val", task.pad_value)
        image["DE_Q_W.pix_size"] = shape.unit != 1
    split = _put_split(image, ndl, shape)
    if ndl.special:
        plane = plane_shape(ndl)
        split = _put_columns(image, ndl, plane) or split
        _put_rows(image, ndl, plane)
        image["DE_Q_W.secv_en"] = 1
    if split:
        _need_signed(ndl, "stride of the split", split, STRIDE_BITS)
        image["DE_Q_W.split_strd"] = split
    return shape.unit


def _put_split(image: Image, ndl: Ndl, shape: WordShape) -> int:
    """One address, halves to two, or even and odd data to two. Gives the distance between two."""
    if shape.data_contiguous and shape.group_contiguous:
        return 0
    _need(ndl, not ndl.special, "a split transfer cannot have special dimensions")
    if shape.data_contiguous and shape.groups == 2:
        _need_one_of(ndl, "size of a transfer split in halves", shape.size, SPLIT_SIZES)
        image["DE_Q_W.split_en"] = 1
        image["DE_Q_W.split_type"] = 1
        return shape.group_stride
    alternating = shape.data == 2 and not shape.data_contiguous
    if alternating and (shape.groups == 1 or shape.group_stride == shape.unit):
        image["DE_Q_W.split_en"] = 1
        image["DE_Q_W.split_type"] = 0
        image["DE_Q_W.pix_size"] = shape.unit != 1
        return shape.data_stride
    raise EncodeError(
        "a transfer goes to one address, or in two halves (G of 2), or even and odd data apart "
        f"(D of 2 and G of stride B); this is D {shape.data} of stride {shape.data_stride}, "
        f"G {shape.groups} of stride {shape.group_stride}",
        agent=ndl.name,
        dim="low",
    )


def _put_columns(image: Image, ndl: Ndl, plane: PlaneShape) -> int:
    """The X loops; gives the distance between even and odd pixels, 0 when they go together."""
    _need_one_of(ndl, "special dimension B", plane.unit, (1, 2))
    image["DE_Q_W.pix_size"] = plane.unit != 1
    first, second = plane.x_count
    _need_count(ndl, "X", first * second)
    image["DE_Q_W.x_size"] = first * second
    if (first == 1 or plane.x_stride[0] == plane.unit) and second == 1:
        return 0
    if first == 2 and (second == 1 or plane.x_stride[1] == plane.unit):
        distance = plane.x_stride[0]
    elif first == 1 and second == 2:
        distance = plane.x_stride[1]
    else:
        raise EncodeError(
            "X is contiguous pixels, or even and odd ones apart (X of 2, then contiguous X)",
            agent=ndl.name,
            dim="special",
        )
    image["DE_Q_W.split_en"] = 1
    image["DE_Q_W.split_type"] = 0
    return distance


def _put_rows(image: Image, ndl: Ndl, plane: PlaneShape) -> None:
    """The Y loops: rows of one stride, or pairs of rows."""
    first, second = plane.y_count
    _need_count(ndl, "Y", first * second)
    image["DE_Q_W.y_size"] = first * second
    if second == 1:
        _need_signed(ndl, "stride of Y", plane.y_stride[0], PLANE_STRIDE_BITS)
        image["DE_Q_W.yp_step"] = plane.y_stride[0]
        image.wrap("DE_Q_W.yh_step", 2 * plane.y_stride[0])
        return
    _need(ndl, first == 2, "of two Y dimensions the first has 2 steps: even and odd rows")
    _need_signed(ndl, "stride between even and odd rows", plane.y_stride[0], STRIDE_BITS)
    _need_signed(ndl, "stride between pairs of rows", plane.y_stride[1], PLANE_STRIDE_BITS)
    image["DE_Q_W.yp_step"] = plane.y_stride[0]
    image["DE_Q_W.yh_step"] = plane.y_stride[1]


def _sync_index(ndl: Ndl) -> int:
    if not 0 <= ndl.sync_nhd <= len(ndl.high):
        raise EncodeError(
            f"is {ndl.sync_nhd}; there are {len(ndl.high)} high dimensions",
            agent=ndl.name,
            dim="sync_nhd",
        )
    if ndl.sync_mode not in ("", "R", "P"):
        raise EncodeError(f"is {ndl.sync_mode!r}; R, P or nothing", agent=ndl.name, dim="sync_mode")
    return max(ndl.sync_nhd - 1, 0)


def _need(ndl: Ndl, holds: bool, rule: str) -> None:
    if not holds:
        raise EncodeError(rule, agent=ndl.name, dim="low")


def _need_one_of(ndl: Ndl, what: str, value: int, choices: Collection[int]) -> None:
    listed = ", ".join(map(str, choices))
    _need(ndl, value in choices, f"{what} is {value}; {listed} are possible")


def _need_bytes(ndl: Ndl, shape: WordShape, choices: Collection[int]) -> None:
    _need(ndl, not shape.bit_addressed, "is addressed in bytes; the first dimension cannot be b")
    _need_one_of(ndl, "dimension B", shape.unit, choices)


def _need_plain(ndl: Ndl, shape: WordShape) -> None:
    _need(ndl, shape.data_contiguous, "dimension D must be contiguous")
    _need(ndl, shape.groups == 1, "cannot have a dimension G")


def _need_size(ndl: Ndl, size: int, most: int) -> None:
    _need(ndl, 1 <= size <= most, f"a transfer of {size} bytes; the bus takes {most}")


def _need_signed(ndl: Ndl, what: str, value: int, bits: int) -> None:
    fits = -(1 << bits - 1) <= value < 1 << bits - 1
    _need(ndl, fits, f"{what} is {value}; a signed {bits}-bit number is possible")


def _need_count(ndl: Ndl, what: str, count: int) -> None:
    _need(ndl, count <= 0xFFFF, f"{what} has {count} steps together; 65535 are possible")
