"""Slice tasks of common kernels as command lists, written by hand from the loop nests they are."""

from assay.hw.torq.words.commands import Dim, Ndl, SliceTask

ONCE = Dim(count=1, tag="G")


def dim(tag: str, count: int, stride: int = 0) -> Dim:
    return Dim(count=count, stride=stride, tag=tag)


def element(size: int) -> Dim:
    return Dim(count=size, stride=1, tag="B")


def _conv_ndls(
    data: Ndl,
    *,
    taps: int,
    blocks: int,
    groups: int,
    weights: int,
    bias: int,
    target: int,
    height: int,
    width: int,
    segments: int = 1,
) -> tuple[Ndl, ...]:
    """The agents of a convolution around its data: four output channels at a time, 64 pixels."""
    pixels = height * width
    shared = dim("G", 4, 72) if segments == 4 else dim("G", 1, 0)
    return (
        Ndl(agent="REF", high=(dim("X", width, 1), dim("Y", height, width))),
        data,
        Ndl(
            agent="DEWR",
            low=(element(1), dim("D", 4, 1)),
            high=(ONCE, dim("O", taps, 4), dim("O", blocks, 0), dim("O", groups, 4 * taps)),
            base_address=weights,
        ),
        Ndl(
            agent="DEBR",
            low=(element(4), dim("D", 2, 4)),
            high=(ONCE, dim("O", 4, 8), dim("O", blocks, 0), dim("O", groups, 32)),
            base_address=bias,
        ),
        Ndl(agent="CEDW", low=(element(1),), high=(dim("S", segments, 72), dim("T", 1))),
        Ndl(agent="CEWW", low=(element(1),), high=(dim("T", 1),)),
        Ndl(agent="CEDR", low=(element(1), dim("D", 64, 1), shared), high=(dim("T", 1),)),
        Ndl(agent="CEWR", low=(element(1), dim("D", 1), dim("G", 4, 1)), high=(dim("T", 1),)),
        Ndl(agent="CEPR", low=(element(4),), high=(dim("N", taps), dim("T", blocks * groups))),
        Ndl(agent="ACPR", low=(element(4), dim("D", 16, 4)), high=(dim("S", 16, 64),)),
        Ndl(agent="ACBW", low=(element(8),), high=(dim("T", 1),)),
        Ndl(agent="ACBR", low=(element(8),), high=(dim("M", 4), dim("T", 1))),
        Ndl(
            agent="DEQW",
            low=(element(1), dim("D", 16, 1)),
            high=(
                ONCE,
                dim("A", 4),
                dim("O", 4, pixels),
                dim("A", blocks),
                dim("O", groups, 4 * pixels),
            ),
            special=(element(1), dim("X", pixels, 1)),
            base_address=target,
        ),
    )


def _conv_task(ndls: tuple[Ndl, ...], size: int, config: dict[str, object]) -> SliceTask:
    border = size // 2
    window: dict[str, object] = {
        "act_rsh": 20,
        "act_clip_min": -128,
        "act_clip_max": 127,
        "kernel_left": border,
        "kernel_right": border,
        "kernel_top": border,
        "kernel_bottom": border,
        "pad_left": min(border, 1),
        "pad_right": min(border, 1),
        "pad_top": border,
        "pad_bottom": border,
    }
    return SliceTask(ndls=ndls, **(window | config))  # type: ignore[arg-type]


def conv(
    *,
    channels: int,
    outputs: int,
    height: int,
    width: int,
    source: int,
    weights: int,
    bias: int,
    target: int,
    size: int = 3,
    **config: object,
) -> SliceTask:
    """A convolution with same padding of [channels][height][width] int8; weights are
    [outputs/4][channels][size][size][4], {bias, scale} int32 pairs per output channel."""
    groups, pixels = outputs // 4, height * width
    blocks = -(-pixels // 64)
    data = Ndl(
        agent="DEDR",
        low=(element(1), dim("D", 64 + min(size - 1, 2), 1)),
        high=(
            ONCE,
            dim("I", -(-size // 3), 3),
            dim("J", size, width),
            dim("O", channels, pixels),
            dim("A", blocks, 64),
            dim("O", groups, 0),
        ),
        base_address=source,
    )
    ndls = _conv_ndls(
        data,
        taps=size * size * channels,
        blocks=blocks,
        groups=groups,
        weights=weights,
        bias=bias,
        target=target,
        height=height,
        width=width,
    )
    return _conv_task(ndls, size, config)


def depthwise(
    *,
    channels: int,
    height: int,
    width: int,
    source: int,
    weights: int,
    bias: int,
    target: int,
    size: int = 3,
    **config: object,
) -> SliceTask:
    """A depthwise convolution with same padding; weights are [channels/4][size][size][4]."""
    groups, pixels = channels // 4, height * width
    blocks = -(-pixels // 64)
    data = Ndl(
        agent="DEDR",
        low=(element(1), dim("D", 64 + min(size - 1, 2), 1)),
        high=(
            ONCE,
            dim("O", 4, pixels),
            dim("I", -(-size // 3), 3),
            dim("J", size, width),
            dim("A", blocks, 64),
            dim("O", groups, 4 * pixels),
        ),
        base_address=source,
    )
    ndls = _conv_ndls(
        data,
        taps=size * size,
        blocks=blocks,
        groups=groups,
        weights=weights,
        bias=bias,
        target=target,
        height=height,
        width=width,
        segments=4,
    )
    return _conv_task(ndls, size, config)


def halving_conv(
    *,
    channels: int,
    outputs: int,
    height: int,
    width: int,
    source: int,
    weights: int,
    bias: int,
    target: int,
    size: int = 3,
    **config: object,
) -> SliceTask:
    """The same with stride 2, on input in four planes per channel (even rows' even columns, even
    rows' odd ones, odd rows'...); `height` and `width` are the output's, weights in the order
    that `halving_taps` gives."""
    border, groups, pixels = size // 2, outputs // 4, height * width
    blocks = -(-pixels // 64)
    first = border & 1
    even = (border + 1) >> 1
    odd = border - even
    parts = -(-size // 2)
    sign = -1 if first else 1
    columns = (dim("I", 2, 3),) if parts > 3 else ()
    data = Ndl(
        agent="DEDR",
        low=(element(1), dim("D", 64 + min(parts - 1, 2), 1)),
        high=(
            *columns,
            dim("I", 2, sign * pixels + even - odd),
            dim("J", 2, sign * 2 * pixels + width * (even - odd)),
            dim("J", parts, width),
            dim("O", channels, 4 * pixels),
            dim("A", blocks, 64),
            dim("O", groups, 0),
        ),
        base_address=source + 3 * first * pixels,
    )
    ndls = _conv_ndls(
        data,
        taps=size * size * channels,
        blocks=blocks,
        groups=groups,
        weights=weights,
        bias=bias,
        target=target,
        height=height,
        width=width,
    )
    return _conv_task(ndls, size, {"stride": 2} | config)


def halving_taps(size: int) -> list[tuple[int, int]]:
    """(row, column) of a kernel's taps in the order in which stride 2 visits them."""
    columns = [*range(0, size, 2), *range(1, size, 2)]
    return [(row, column) for row in range(size) for column in columns]


def lanes_of(count: int, partials: int) -> tuple[int, int]:
    """(partial sums of a vector, vectors) of `count` results of so many partial sums each."""
    words = count * partials
    return (words, 1) if words <= 16 else (16, words // 16)


def streaming(
    *,
    source: int,
    target: int,
    size: int,
    count: int,
    words: int,
    result: int,
    operands: int = 1,
    apart: int = 0,
    partials: int = 1,
    weights: Ndl | None = None,
    weight_step: Dim | None = None,
    repeat: int = 1,
    bias: Ndl | None = None,
    spread: int = 1,
    **config: object,
) -> SliceTask:
    """Words of `count` data of `size` bytes, each block of `operands` words (which lie `apart`)
    becoming `count` results of `result` bytes; `partials` PRAM words make a result."""
    per_vector, vectors = lanes_of(count, partials)
    word = count * size
    ndls = [
        Ndl(agent="REF"),
        Ndl(
            agent="DEDR",
            low=(element(size), dim("D", count, size)),
            high=(ONCE, dim("O", operands, apart), dim("O", words, word)),
            base_address=source,
        ),
        Ndl(agent="CEDW", low=(element(size),), high=(dim("T", 1),)),
        Ndl(
            agent="CEDR",
            low=(dim("I", repeat), element(size), dim("D", count, size)),
            high=(dim("T", 1),),
        ),
        Ndl(agent="CEPR", low=(element(4),), high=(dim("N", operands), dim("T", words))),
        Ndl(
            agent="ACPR",
            low=(element(4), dim("D", per_vector, 4)),
            high=(dim("S", vectors, 64), dim("T", words)),
        ),
        Ndl(
            agent="DEQW",
            low=(element(result), dim("D", per_vector // partials, result)),
            high=(ONCE, dim("O", words * vectors, per_vector // partials * result)),
            base_address=target,
        ),
    ]
    if partials > 1 and config.get("alu_format") != "BF":
        ndls.append(
            Ndl(agent="ACPW", low=(element(4), dim("D", partials, 4), dim("G", 16 // partials)))
        )
    if weights is not None:
        ndls += [weights, Ndl(agent="CEWW", low=(element(1),), high=(dim("T", 1),))]
        assert weight_step is not None
        ndls.append(
            Ndl(
                agent="CEWR",
                low=(element(weights.low[0].count), weight_step, dim("J", spread)),
                high=(dim("T", 1),),
            )
        )
    if bias is not None:
        entry = 4 if config.get("act_format") == "BF" else 8
        ndls += [
            bias,
            Ndl(agent="ACBW", low=(element(entry),), high=(dim("T", 1),)),
            Ndl(
                agent="ACBR",
                low=(element(entry),),
                high=(dim("M", words * vectors), dim("T", 1)),
            ),
        ]
    limits: dict[str, object] = {"act_clip_min": -(1 << 31), "act_clip_max": (1 << 31) - 1}
    return SliceTask(ndls=tuple(ndls), **(limits | config))  # type: ignore[arg-type]


def weight_words(source: int, size: int, count: int, words: int) -> Ndl:
    """DEWR for streaming: a word of `count` weights for each data word."""
    return Ndl(
        agent="DEWR",
        low=(element(size), dim("D", count, size)),
        high=(ONCE, dim("O", words, count * size)),
        base_address=source,
    )


def bias_word(source: int, size: int = 8) -> Ndl:
    """DEBR of one bias (and scale)."""
    return Ndl(
        agent="DEBR",
        low=(element(4), dim("D", size // 4, 4)),
        high=(ONCE,),
        base_address=source,
    )


def shifting(
    *, source: int, amounts: int, target: int, size: int, words: int, **config: object
) -> SliceTask:
    """Values shifted by amounts: 16 per word, 8 of 4 bytes; both come as one gathered word."""
    count = 8 if size == 4 else 16
    ndls = (
        Ndl(agent="REF"),
        Ndl(
            agent="DEDR",
            low=(element(1), dim("D", count * size, 1), dim("G", 2, amounts - source)),
            high=(ONCE, dim("O", words, count * size)),
            base_address=source,
        ),
        Ndl(agent="CEDW", low=(element(4),), high=(dim("T", 1),)),
        Ndl(
            agent="CEDR",
            low=(element(4), dim("D", 8, 4), dim("G", 8, 36)),
            high=(dim("T", 1),),
        ),
        Ndl(agent="CEPR", low=(element(4),), high=(dim("N", 1), dim("T", words))),
        Ndl(agent="ACPR", low=(element(4), dim("D", 16, 4)), high=(dim("T", words),)),
        Ndl(
            agent="DEQW",
            low=(element(size), dim("D", count, size)),
            high=(ONCE, dim("O", words, count * size)),
            base_address=target,
        ),
    )
    limits: dict[str, object] = {
        "act_clip_min": -(1 << 31),
        "act_clip_max": (1 << 31) - 1,
        "act_sum_bits": 8 * size,
        "alu_op0_mode": "DBYP",
        "alu_op1_mode": "BOR",
    }
    return SliceTask(ndls=ndls, **(limits | config))  # type: ignore[arg-type]


def replaced(task: SliceTask, **agents: Ndl) -> SliceTask:
    """The task with some agents' loops replaced, and others added."""
    ndls = [agents.pop(ndl.agent, ndl) for ndl in task.ndls] + list(agents.values())
    fields = {name: getattr(task, name) for name in task.__slots__}
    return SliceTask(**(fields | {"ndls": tuple(ndls)}))
