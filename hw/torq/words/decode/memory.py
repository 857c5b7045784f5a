"""From slice registers and descriptors back to the loops of the memory agents."""

from ...facts.modes import Mode, modes
from ...facts.registers import Image
from ..commands import Dim, Ndl, SliceTask
from ..encode.window import base_shift, skipped_steps
from ..encode.word import WordShape
from ..errors import DecodeError
from .stream import RawDescriptor

TAGS = {4: "A", 2: "J", 6: "J", 1: "I", 5: "I", 0: ""}


def unit(count: int, tag: str = "B") -> Dim:
    """The first low dimension."""
    return Dim(count=count, stride=1, tag=tag)


def run(size: int, data: int) -> tuple[Dim, ...]:
    """Contiguous data of `size` bytes."""
    return (unit(size), Dim(count=data, stride=size, tag="D"))


def high_dims(agent: str, raw: RawDescriptor, task: SliceTask) -> tuple[Dim, ...]:
    """High dimensions with the strides that the deltas come from. Raises DecodeError."""
    for dim in raw.dims:
        if dim.code not in TAGS:
            raise DecodeError(raw.address, f"tag {dim.code} of a dimension means nothing")
    dims = [Dim(count=dim.count, tag=TAGS[dim.code], pad=dim.pad) for dim in raw.dims]
    skipped = skipped_steps(Ndl(agent=agent, high=tuple(dims)), task) if agent == "DEDR" else ()
    moved = 0
    for index, dim in enumerate(raw.dims):
        delta = dim.delta - sum(
            dims[step.index].stride * step.size for step in skipped if 0 <= step.index < index - 1
        )
        stride = delta + moved
        moved += (dim.count - 1) * stride
        dims[index] = Dim(count=dim.count, stride=stride, tag=dims[index].tag, pad=dim.pad)
    return tuple(dims)


def input_low(image: Image, extra: int) -> tuple[Dim, ...]:
    """DEDR's low dimensions; `extra` is how many data more than it advances a word carries."""
    size = image["DE_D_R.w_size"]
    unit_bytes = 2 if image["DE_D_R.pix_size"] else 1
    wide = (size - 4 * extra) % 64 == image["DE_D_R.w_step"] != (size - extra) % 64
    if unit_bytes == 1 and wide and size % 4 == 0:
        unit_bytes = 4
    low = run(unit_bytes, size // unit_bytes)
    groups = 1 << image["DE_D_R.simd_size"]
    stride = image.signed("DE_D_R.simd_strd")
    if groups > 1 or stride:
        low = (*low, Dim(count=groups, stride=stride, tag="G"))
    return low


def input_shape(low: tuple[Dim, ...]) -> WordShape:
    """What `base_shift` needs to know of DEDR's word."""
    return WordShape(unit=low[0].count, data=low[1].count)


def input_base(raw: RawDescriptor, task: SliceTask, width: int, low: tuple[Dim, ...]) -> int:
    """The base address that the descriptor's start comes from."""
    return (raw.start + base_shift(task, width, input_shape(low))) % (1 << 24)


def weight_low(image: Image) -> tuple[Dim, ...]:
    """DEWR's low dimensions."""
    size = image["DE_W_R.w_size"] or 32
    mode = weight_mode(image)
    if mode is None:
        return run(1, size)
    count = size // 2 if image["DE_W_R.d_type"] == 2 else size
    bits = mode.code("bits")
    if bits == 8:
        return run(1, count)
    return (unit(bits, "b"), Dim(count=count, stride=bits, tag="D"))


def weight_mode(image: Image) -> Mode | None:
    """How weights are expanded; None when they are not."""
    if not image["DE_W_R.d_comp"]:
        return None
    known = modes("weight_format")
    return known[known.named(code=image["DE_W_R.d_cfmt"]) or "SI8"]


def output_low(image: Image) -> tuple[Dim, ...]:
    """DEQW's low dimensions."""
    size = image["DE_Q_W.w_size"] or 64
    result = 1 << min(image["DE_ACT.q_size"], 2)
    count = size // result
    if not image["DE_Q_W.split_en"] or image["DE_Q_W.secv_en"]:
        return run(result, count)
    distance = image.signed("DE_Q_W.split_strd")
    if image["DE_Q_W.split_type"]:
        return (*run(result, count // 2), Dim(count=2, stride=distance, tag="G"))
    return (
        unit(result),
        Dim(count=2, stride=distance, tag="D"),
        Dim(count=count // 2, stride=result, tag="G"),
    )


def output_plane(image: Image) -> tuple[Dim, ...]:
    """DEQW's special dimensions."""
    if not image["DE_Q_W.secv_en"]:
        return ()
    pixel = 2 if image["DE_Q_W.pix_size"] else 1
    columns, rows = image["DE_Q_W.x_size"], image["DE_Q_W.y_size"]
    dims = [unit(pixel)]
    if image["DE_Q_W.split_en"]:
        dims.append(Dim(count=2, stride=image.signed("DE_Q_W.split_strd"), tag="X"))
        dims.append(Dim(count=columns // 2, stride=pixel, tag="X"))
    else:
        dims.append(Dim(count=columns, stride=pixel, tag="X"))
    step, pair = image.signed("DE_Q_W.yp_step"), image.signed("DE_Q_W.yh_step")
    if (2 * step - pair) % (1 << 18) == 0 and -(1 << 17) <= step < 1 << 17:
        if rows > 1 or step:
            dims.append(Dim(count=rows, stride=step, tag="Y"))
    else:
        dims.append(Dim(count=2, stride=step, tag="Y"))
        dims.append(Dim(count=rows // 2, stride=pair, tag="Y"))
    return tuple(dims)
