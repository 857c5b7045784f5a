"""Products of matrices with vectors: several matrices, RMSNorm, SwiGLU and more in one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from ..errors import FoundryError
from ..formats import Format
from ..kernels import Compound, Epilogue, custom
from .base import Listed, Ready, scalar_of
from .gemv_stage import Combine, GemvStage, Head

SWIGLU: Final = Combine("swiglu", "value_gate / (1.0f + exp(-value_gate)) * value_up")
"""silu(gate) * up, of matrices of these names."""

GEGLU: Final = Combine(
    "geglu",
    "gelu(value_gate) * value_up",
    """\
static inline float gelu(float value) {
    return 0.5f * value *
           (1.0f + tanh(0.7978845608f * (value + 0.044715f * value * value * value)));
}
""",
)
"""gelu(gate) * up, of matrices of these names."""

_MOST_SUMS: Final = 32
"""Of a thread, beside eight numbers of each vector."""


def fused_gemv(
    weights: Sequence[Format],
    rows: Sequence[int],
    element: Any = float,
    *,
    names: Sequence[str] = ("",),
    biases: Sequence[bool] | None = None,
    norm: float | None = None,
    combine: Combine | None = None,
    epilogue: Sequence[Epilogue] = (),
    vectors: int = 1,
    rows_together: int = 4,
    simdgroups: int = 2,
) -> Ready:
    """Products of several matrices with the same vectors, with what stands before and behind.

    The lists have an entry for each matrix; arguments of matrix `q` are `matrix_q`, `scales_q`,
    `bias_q` and `y_q`, those of the only one have no ending. `x` is [..., columns]. With `norm`, an
    epsilon, x is normalised by RMSNorm with the weights `gamma`. `combine` makes one result `y` of
    all, which `epilogue` may change. A simdgroup computes `rows_together` rows for `vectors`
    vectors, and so reads weights once for these. Raises FoundryError for lists of other lengths.
    """
    flags = [False] * len(weights) if biases is None else list(biases)
    lists = {"names": names, "weights": weights, "rows": rows, "biases": flags}
    if len({len(each) for each in lists.values()}) > 1:
        counts = ", ".join(f"{len(each)} {name}" for name, each in lists.items())
        raise FoundryError("gemv-heads", f"{counts}; the lists have an entry for each matrix")
    heads = tuple(map(Head, names, weights, rows, flags))
    stage = GemvStage(
        heads=heads,
        element=scalar_of(element),
        combine=combine,
        norm=norm,
        vectors=vectors,
        rows=rows_together,
        simdgroups=simdgroups,
        has_epilogue=bool(epilogue),
    )
    parts = [*dict.fromkeys(each.name for each in weights), *filter(None, names)]
    parts += [] if combine is None else [combine.name]
    parts += [each.name for each in epilogue] + ["normal"] * (norm is not None)
    fused = Compound("_".join(["gemv", *parts]), main=stage, epilogue=epilogue)
    groups = -(-max(rows) // (rows_together * simdgroups))
    grid = custom(
        lambda given: (groups, -(-prod(given["x"].shape[:-1]) // vectors)), (32 * simdgroups,)
    )
    return fused, grid


def usual_rows(matrices: int, vectors: int) -> int:
    """Rows of each matrix that a simdgroup computes: one where the sums of two fill registers."""
    return 2 if 2 * matrices * vectors <= _MOST_SUMS else 1


def small_batch_gemv(
    weights: Format,
    rows: int,
    element: Any = float,
    *,
    vectors: int = 4,
    epilogue: Sequence[Epilogue] = (),
) -> Ready:
    """`y = epilogue(W x)` for a few vectors: weights are read once for 2 to 8 of them."""
    return fused_gemv(
        [weights], [rows], element, vectors=vectors, epilogue=epilogue, rows_together=2
    )


def qkv(
    weights: Format | Sequence[Format],
    rows: Sequence[int],
    element: Any = float,
    *,
    norm: float | None = 1e-5,
    biases: bool = False,
    vectors: int = 1,
) -> Ready:
    """Queries, keys and values of x in one kernel: `rows` of q, k and v, RMSNorm in front.

    Gives `y_q`, `y_k` and `y_v`; formats may differ.
    """
    formats = [weights] * 3 if not isinstance(weights, Sequence) else list(weights)
    return fused_gemv(
        formats,
        rows,
        element,
        names=("q", "k", "v"),
        biases=[biases] * 3,
        norm=norm,
        vectors=vectors,
        rows_together=usual_rows(3, vectors),
    )


def gate_up(
    weights: Format | Sequence[Format],
    rows: int,
    element: Any = float,
    *,
    norm: float | None = 1e-5,
    biases: bool = False,
    vectors: int = 1,
) -> Ready:
    """`y = silu(gate(x)) * up(x)` in one kernel, RMSNorm in front."""
    formats = [weights] * 2 if not isinstance(weights, Sequence) else list(weights)
    return fused_gemv(
        formats,
        [rows] * 2,
        element,
        names=("gate", "up"),
        biases=[biases] * 2,
        norm=norm,
        combine=SWIGLU,
        vectors=vectors,
        rows_together=2,
    )


LISTED: Final = {
    "small_batch_gemv": Listed(small_batch_gemv, reads_weights=True, sizes={"rows": 1}),
    "qkv": Listed(qkv, reads_weights=True, sizes={"rows": (1, 1, 1)}),
    "gate_up": Listed(gate_up, reads_weights=True, sizes={"rows": 1}),
}
