"""Cases of simdgroup matrices: every type, mixed types, and the forms of loads and stores."""

from __future__ import annotations

from collections.abc import Iterator

from .case import Case

# Operands and sum: what `simdgroup_multiply_accumulate` takes together.
_MIXED = (
    ("float", "float"),
    ("half", "half"),
    ("half", "float"),
    ("bfloat", "bfloat"),
    ("bfloat", "float"),
)
_WIDE = "ulong2(0, 0)"
_SETUP = (
    "threadgroup {sum} tile[512]; uint at = t / 32 * 64;"
    "device const {given}* from = x + (i - t) + at; device const {given}* other = y + (i - t) + at;"
    "if (t < 128) {{"
    "simdgroup_matrix<{given}, 8, 8> p, q; simdgroup_matrix<{sum}, 8, 8> s, u;"
)
_FINISH = "}} threadgroup_barrier(mem_flags::mem_threadgroup); r = tile[t];"


def matrix_cases() -> Iterator[Case]:
    """A product in each type, and in float and half everything else that matrices do."""
    for given, total in _MIXED:
        yield _case("multiply" if given == total else "multiply-into", given, total, _PRODUCT)
        yield _case("accumulate", given, total, _ACCUMULATED)
    for kind in ("float", "half", "bfloat"):
        for name, body in _FORMS.items():
            yield _case(name, kind, kind, body)


def _case(name: str, given: str, total: str, body: str) -> Case:
    named = given if given == total else f"{given}-{total}"
    text = (_SETUP + body + _FINISH).format(given=given, sum=total)
    return Case(name=f"matrix/{name}-{named}", given=given, result=total, body=text)


_LOAD = "simdgroup_load(p, from, 8); simdgroup_load(q, other, 8);"
_STORE = "simdgroup_store(s, tile + at, 8);"
_PRODUCT = f"{_LOAD} simdgroup_multiply(s, p, q); {_STORE}"
_ACCUMULATED = (
    f"{_LOAD} u = make_filled_simdgroup_matrix<{{sum}}, 8, 8>({{sum}}(3));"
    f"simdgroup_multiply_accumulate(s, p, q, u); {_STORE}"
)
_FORMS = {
    "load-transposed": (
        f"simdgroup_load(p, from, 8, {_WIDE}, true); simdgroup_load(q, other, 8);"
        f"simdgroup_multiply(s, p, q); {_STORE}"
    ),
    "load-from-an-origin": (
        "simdgroup_load(p, x + (i - t), 16, ulong2(3, t / 32)); simdgroup_load(q, other, 8);"
        f"simdgroup_multiply(s, p, q); {_STORE}"
    ),
    "load-from-threadgroup": (
        "threadgroup {given} given[256]; uint lane = t % 32;"
        "given[at + lane] = from[lane]; given[at + 32 + lane] = from[lane + 32];"
        "simdgroup_barrier(mem_flags::mem_threadgroup);"
        "simdgroup_load(p, given + at, 8); simdgroup_load(q, other, 8);"
        f"simdgroup_multiply(s, p, q); {_STORE}"
    ),
    "store-transposed": (
        f"{_LOAD} simdgroup_multiply(s, p, q);simdgroup_store(s, tile + at, 8, {_WIDE}, true);"
    ),
    "store-with-a-stride": (
        f"{_LOAD} simdgroup_multiply(s, p, q); simdgroup_store(s, tile + t / 32 * 8, 32);"
    ),
    "elements": (
        "simdgroup_load(s, from, 8); s.thread_elements()[0] += {sum}(1);"
        f"s.thread_elements()[1] *= {{sum}}(2); {_STORE}"
    ),
    "filled": f"s = make_filled_simdgroup_matrix<{{sum}}, 8, 8>({{sum}}(5)); {_STORE}",
    "diagonal": (
        f"simdgroup_load(p, from, 8); q = simdgroup_matrix<{{given}}, 8, 8>({{given}}(2));"
        f"simdgroup_multiply(s, p, q); {_STORE}"
    ),
}
