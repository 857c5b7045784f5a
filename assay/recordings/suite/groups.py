"""Cases of what threads do together: simdgroups, quadgroups, barriers and atomics."""

from __future__ import annotations

from collections.abc import Iterator

from .case import Case, simple

_SIMD = (
    "simd_sum",
    "simd_product",
    "simd_min",
    "simd_max",
    "simd_prefix_inclusive_sum",
    "simd_prefix_exclusive_sum",
    "simd_prefix_inclusive_product",
    "simd_prefix_exclusive_product",
)
_QUAD = ("quad_sum", "quad_product", "quad_min", "quad_max")
_BITS = ("and", "or", "xor")
_TYPES = ("float", "half", "int", "uint", "short", "ushort")
_MOVES = {
    "shuffle": "simd_shuffle_xor(a, ushort(5))",
    "shuffle-up": "simd_shuffle_up(a, ushort(1))",
    "shuffle-down": "simd_shuffle_down(a, ushort(1))",
    "shuffle-rotate": "simd_shuffle_rotate_down(a, ushort(3))",
    "broadcast": "simd_broadcast(a, ushort(7))",
    "quad-shuffle": "quad_shuffle_xor(a, ushort(1))",
    "quad-broadcast": "quad_broadcast(a, ushort(2))",
}
_VOTES = {
    "ballot": "uint((ulong)simd_ballot(a > 1))",
    "all": "uint(simd_all(a > 0))",
    "any": "uint(simd_any(a > 1))",
    "active": "uint((ulong)simd_active_threads_mask())",
    "first": "uint(simd_is_first())",
}
_ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor", "exchange")
_SWAP = (
    "{kind} expected = {expected}; bool is_done = atomic_compare_exchange_weak_explicit(place, "
    "&expected, b, memory_order_relaxed, memory_order_relaxed); (void)is_done;"
)


def group_cases() -> Iterator[Case]:
    """All of them."""
    yield from _lanes()
    yield from _votes()
    yield from _atomics()
    yield from _barriers()


def _lanes() -> Iterator[Case]:
    for kind in _TYPES:
        for name in (*_SIMD, *_QUAD):
            yield simple(f"simdgroup/{name}-{kind}", kind, f"{name}(a)")
        for name, expression in _MOVES.items():
            yield simple(f"simdgroup/{name}-{kind}", kind, expression)
        if kind not in ("float", "half"):
            for name in _BITS:
                yield simple(f"simdgroup/simd_{name}-{kind}", kind, f"simd_{name}(a)")
                yield simple(f"simdgroup/quad_{name}-{kind}", kind, f"quad_{name}(a)")
    for kind in ("char", "uchar"):
        yield simple(f"simdgroup/shuffle-{kind}", kind, _MOVES["shuffle"])


def _votes() -> Iterator[Case]:
    for name, expression in _VOTES.items():
        yield simple(f"simdgroup/vote-{name}", "uint", expression)
    yield simple(
        "simdgroup/vote-quad-ballot", "uint", "uint((quad_vote::vote_t)quad_ballot(a > 1))"
    )


def _atomics() -> Iterator[Case]:
    for kind in ("int", "uint"):
        for name in _ATOMICS:
            call = "exchange" if name == "exchange" else f"fetch_{name}"
            yield _atomic(name, kind, f"atomic_{call}_explicit(place, b, memory_order_relaxed);")
        for name, expected in (("same", "a"), ("other", "a + 1")):
            yield _atomic(f"compare-{name}", kind, _SWAP.format(kind=kind, expected=expected))
    yield _atomic("add", "float", "atomic_fetch_add_explicit(place, b, memory_order_relaxed);")
    yield _atomic("exchange", "float", "atomic_exchange_explicit(place, b, memory_order_relaxed);")
    # In threadgroup memory, and of many threads: sums that no order changes.
    counted = (
        "threadgroup atomic_uint count; if (t == 0) "
        "atomic_store_explicit(&count, 0u, memory_order_relaxed);"
        "threadgroup_barrier(mem_flags::mem_threadgroup);"
        "atomic_fetch_add_explicit(&count, a & 3, memory_order_relaxed);"
        "threadgroup_barrier(mem_flags::mem_threadgroup);"
        "r = atomic_load_explicit(&count, memory_order_relaxed);"
    )
    yield Case(name="atomic/threadgroup-add-uint", given="uint", result="uint", body=counted)


def _atomic(name: str, kind: str, change: str) -> Case:
    """One thread after the other: what each gets does not depend on the order."""
    body = (
        f"device atomic_{kind}* place = (device atomic_{kind}*)&z[i];"
        "atomic_store_explicit(place, a, memory_order_relaxed);"
        f"{change} r = atomic_load_explicit(place, memory_order_relaxed);"
    )
    return Case(name=f"atomic/{name}-{kind}", given=kind, result=kind, body=body)


def _barriers() -> Iterator[Case]:
    for kind in ("float", "half", "ushort"):
        turned = (
            f"threadgroup {kind} tile[256]; tile[t] = a;"
            "threadgroup_barrier(mem_flags::mem_threadgroup); r = tile[255 - t];"
        )
        named = "barrier/reverse" if kind == "float" else f"barrier/reverse-{kind}"
        yield Case(name=named, given=kind, result=kind, body=turned)
    rounds = (
        "threadgroup uint tile[256]; tile[t] = a;"
        "for (uint step = 1; step < 256; step *= 2) {"
        "threadgroup_barrier(mem_flags::mem_threadgroup); uint other = tile[t ^ step];"
        "threadgroup_barrier(mem_flags::mem_threadgroup); tile[t] += other; }"
        "r = tile[t];"
    )
    yield Case(name="barrier/butterfly", given="uint", result="uint", body=rounds)
    within = (
        "threadgroup uint tile[256]; tile[t] = a;"
        "simdgroup_barrier(mem_flags::mem_threadgroup); r = tile[t ^ 31];"
    )
    yield Case(name="barrier/simdgroup", given="uint", result="uint", body=within)
    through_device = (
        "z[i] = a; threadgroup_barrier(mem_flags::mem_device); uint other = z[i ^ 255];"
        "threadgroup_barrier(mem_flags::mem_device); r = other + b;"
    )
    yield Case(name="barrier/device", given="uint", result="uint", body=through_device)
