"""Parameter structs lie in memory as clang lays them out, and are packed by that layout."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.structs import (
    HostOnly,
    Named,
    Struct,
    array,
    dynamic,
    layout_of,
    names,
    pack,
    struct,
)
from assay.compiler.foundry.structs.names import (
    bfloat,
    float3,
    half,
    long,
    packed_float3,
    packed_half3,
    short,
    uchar,
    uint,
)
from assay.compiler.foundry.structs.types import Scalar, Vector


@struct
class Window:
    first: short
    span: packed_half3


@struct
class Params:
    """Every kind of member, in an order that needs padding."""

    flag: bool
    n: Annotated[uint, Named("N")]
    scale: float3
    tag: uchar
    near: packed_float3
    stride: long
    windows: Annotated[Sequence[Window], array(Window, 2)]
    small: bfloat
    note: Annotated[str, HostOnly()] = ""


WINDOWS = (Window(first=-2, span=(1, 2, 3)), Window(first=7, span=(0.5, 0, -1)))
GIVEN = Params(
    flag=True, n=5, scale=(1, 2, 3), tag=9, near=(4, 5, 6), stride=-1, windows=WINDOWS, small=1.5
)

READ = """
kernel void read(constant Params& p [[buffer(0)]], device float* out [[buffer(1)]]) {
    out[0] = p.flag; out[1] = p.N; out[2] = p.scale.z; out[3] = p.tag; out[4] = p.near.z;
    out[5] = p.stride; out[6] = p.windows[0].first; out[7] = p.windows[1].first;
    out[8] = p.windows[1].span.x; out[9] = p.windows[0].span.z; out[10] = p.small;
}
"""


def definitions(layout: Struct) -> str:
    """The struct with those that it is made of."""
    return "".join(each.text for each in (*layout.inner, layout))


def source(*parts: str) -> str:
    return "#include <metal_stdlib>\nusing namespace metal;\n" + "".join(parts)


def test_a_kernel_reads_the_values_that_python_packed() -> None:
    layout = layout_of(Params)
    assert layout is not None
    out = np.full(11, np.nan, np.float32)
    report = assay.check_kernel(
        source(definitions(layout), READ), "read", pack(GIVEN), out, threads=1
    )
    assert not report.findings
    assert out.tolist() == [1, 5, 3, 9, 6, -1, -2, 7, 0.5, 3, 1.5]


def test_the_text_is_what_a_person_would_write() -> None:
    layout = layout_of(Window)
    assert layout is not None
    assert layout.text == (
        "struct Window {\n    short first;\n    packed_half3 span;\n};\n"
        'static_assert(sizeof(Window) == 8, "layout of Window");\n'
    )


SCALARS = [each for each in vars(names).values() if isinstance(each, Scalar)]
VECTORS = [
    Vector(scalar, count, packed)
    for scalar in SCALARS
    for count in (2, 3, 4)
    for packed in (False, True)
    if not (packed and scalar.name == "bool")
]


def made(name: str, kinds: list[Any]) -> Struct:
    fields = {f"m{i}": Annotated[Any, kind] for i, kind in enumerate(kinds)}
    found = layout_of(struct(type(name, (), {"__annotations__": fields})))
    assert found is not None
    return found


def test_clang_agrees_with_every_layout() -> None:
    random = np.random.default_rng(1)
    kinds: list[Any] = [*SCALARS, *VECTORS]
    parts = []
    for number in range(60):
        chosen = [kinds[i] for i in random.integers(0, len(kinds), random.integers(1, 9))]
        chosen = [array(Annotated[Any, k], 3) if random.random() < 0.2 else k for k in chosen]
        layout = made(f"S{number}", chosen)
        parts.append(layout.text)
        parts += [
            f"static_assert(__builtin_offsetof({layout.name}, {m.name}) == {m.offset});\n"
            for m in layout.members
        ]
        parts.append(f"static_assert(alignof({layout.name}) == {layout.alignment});\n")
    kernel = "kernel void k(device int* o [[buffer(0)]]) { o[0] = 1; }\n"
    out = np.zeros(1, np.int32)
    assay.check_kernel(source(*parts, kernel), "k", out, threads=1)
    assert out[0] == 1


def test_a_dynamic_field_is_given_at_dispatch() -> None:
    waiting = Window(first=dynamic("first"), span=(0, 0, 0))
    assert pack(waiting, {"first": 258})[:2] == b"\x02\x01"
    both = Params(**{**vars_of(GIVEN), "windows": (waiting, waiting)})
    assert pack(both, {"first": 258}) != pack(both, {"first": 259})
    with pytest.raises(FoundryError, match=r'Window\.first waits for a value of "first"'):
        pack(waiting, {"second": 1})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n": -1}, r"Params\.n = -1 does not fit into uint, which holds 0 to 4294967295"),
        ({"n": 1.5}, r"Params\.n = 1\.5 is no value for uint"),
        ({"n": True}, r"Params\.n = True is no value for uint"),
        ({"flag": 1}, r"Params\.flag = 1 is no value for bool"),
        ({"scale": (1, 2)}, r"Params\.scale has 2 elements; float3 takes 3"),
        ({"scale": (1, 2, "x")}, r"Params\.scale\.z = 'x' is no value for float"),
        ({"scale": (1, 2, 1e300)}, r"Params\.scale\.z = 1e\+300 exceeds the largest float"),
        ({"small": 3.4e38}, r"Params\.small = 3\.4e\+38 exceeds the largest bfloat"),
        ({"windows": WINDOWS[:1]}, r"Params\.windows has 1 elements; array of 2 takes 2"),
        ({"windows": (1, 2)}, r"Params\.windows\[0\] = 1 is no Window"),
    ],
)
def test_a_value_that_does_not_fit_names_struct_and_field(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(FoundryError, match=message):
        pack(Params(**{**vars_of(GIVEN), **changed}))


def vars_of(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}


def test_fields_that_no_struct_of_msl_can_have_are_refused() -> None:
    with pytest.raises(FoundryError, match=r"Odd\.x: str is no type that MSL has"):

        @struct
        class Odd:
            x: str

    with pytest.raises(FoundryError, match=r"Taken\.device: device is reserved in MSL"):

        @struct
        class Taken:
            device: uint

    with pytest.raises(FoundryError, match=r"Twice\.b: two members are called a"):

        @struct
        class Twice:
            a: uint
            b: Annotated[uint, Named("a")]

    with pytest.raises(FoundryError, match=r"Nothing has no fields"):

        @struct
        class Nothing:
            note: Annotated[str, HostOnly()]


@given(st.floats(width=16, allow_nan=False))
def test_halves_are_packed_as_numpy_packs_them(value: float) -> None:
    @struct
    class One:
        x: half

    assert pack(One(x=value)) == np.float16(value).tobytes()
