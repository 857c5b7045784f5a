"""The names of MSL's types for annotations of fields: `n: uint`, `scale: float4`.

Python's own `int`, `float` and `bool` are MSL's types of those names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from .types import Bfloat, Scalar, Vector

BOOL: Final = Scalar("bool", "|b1")
CHAR: Final = Scalar("char", "<i1")
UCHAR: Final = Scalar("uchar", "<u1")
SHORT: Final = Scalar("short", "<i2")
USHORT: Final = Scalar("ushort", "<u2")
INT: Final = Scalar("int", "<i4")
UINT: Final = Scalar("uint", "<u4")
LONG: Final = Scalar("long", "<i8")
ULONG: Final = Scalar("ulong", "<u8")
HALF: Final = Scalar("half", "<f2")
BFLOAT: Final = Bfloat("bfloat", "<u2")
FLOAT: Final = Scalar("float", "<f4")

PLAIN: Final = {bool: BOOL, int: INT, float: FLOAT}

Integers = Sequence[int] | NDArray[np.integer]
Reals = Sequence[float] | NDArray[np.floating]
Truths = Sequence[bool] | NDArray[np.bool_]

char = Annotated[int, CHAR]
uchar = Annotated[int, UCHAR]
short = Annotated[int, SHORT]
ushort = Annotated[int, USHORT]
uint = Annotated[int, UINT]
long = Annotated[int, LONG]
ulong = Annotated[int, ULONG]
half = Annotated[float, HALF]
bfloat = Annotated[float, BFLOAT]

bool2 = Annotated[Truths, Vector(BOOL, 2)]
bool3 = Annotated[Truths, Vector(BOOL, 3)]
bool4 = Annotated[Truths, Vector(BOOL, 4)]
char2 = Annotated[Integers, Vector(CHAR, 2)]
char3 = Annotated[Integers, Vector(CHAR, 3)]
char4 = Annotated[Integers, Vector(CHAR, 4)]
uchar2 = Annotated[Integers, Vector(UCHAR, 2)]
uchar3 = Annotated[Integers, Vector(UCHAR, 3)]
uchar4 = Annotated[Integers, Vector(UCHAR, 4)]
short2 = Annotated[Integers, Vector(SHORT, 2)]
short3 = Annotated[Integers, Vector(SHORT, 3)]
short4 = Annotated[Integers, Vector(SHORT, 4)]
ushort2 = Annotated[Integers, Vector(USHORT, 2)]
ushort3 = Annotated[Integers, Vector(USHORT, 3)]
ushort4 = Annotated[Integers, Vector(USHORT, 4)]
int2 = Annotated[Integers, Vector(INT, 2)]
int3 = Annotated[Integers, Vector(INT, 3)]
int4 = Annotated[Integers, Vector(INT, 4)]
uint2 = Annotated[Integers, Vector(UINT, 2)]
uint3 = Annotated[Integers, Vector(UINT, 3)]
uint4 = Annotated[Integers, Vector(UINT, 4)]
long2 = Annotated[Integers, Vector(LONG, 2)]
long3 = Annotated[Integers, Vector(LONG, 3)]
long4 = Annotated[Integers, Vector(LONG, 4)]
ulong2 = Annotated[Integers, Vector(ULONG, 2)]
ulong3 = Annotated[Integers, Vector(ULONG, 3)]
ulong4 = Annotated[Integers, Vector(ULONG, 4)]
half2 = Annotated[Reals, Vector(HALF, 2)]
half3 = Annotated[Reals, Vector(HALF, 3)]
half4 = Annotated[Reals, Vector(HALF, 4)]
bfloat2 = Annotated[Reals, Vector(BFLOAT, 2)]
bfloat3 = Annotated[Reals, Vector(BFLOAT, 3)]
bfloat4 = Annotated[Reals, Vector(BFLOAT, 4)]
float2 = Annotated[Reals, Vector(FLOAT, 2)]
float3 = Annotated[Reals, Vector(FLOAT, 3)]
float4 = Annotated[Reals, Vector(FLOAT, 4)]

packed_char2 = Annotated[Integers, Vector(CHAR, 2, packed=True)]
packed_char3 = Annotated[Integers, Vector(CHAR, 3, packed=True)]
packed_char4 = Annotated[Integers, Vector(CHAR, 4, packed=True)]
packed_uchar2 = Annotated[Integers, Vector(UCHAR, 2, packed=True)]
packed_uchar3 = Annotated[Integers, Vector(UCHAR, 3, packed=True)]
packed_uchar4 = Annotated[Integers, Vector(UCHAR, 4, packed=True)]
packed_short2 = Annotated[Integers, Vector(SHORT, 2, packed=True)]
packed_short3 = Annotated[Integers, Vector(SHORT, 3, packed=True)]
packed_short4 = Annotated[Integers, Vector(SHORT, 4, packed=True)]
packed_ushort2 = Annotated[Integers, Vector(USHORT, 2, packed=True)]
packed_ushort3 = Annotated[Integers, Vector(USHORT, 3, packed=True)]
packed_ushort4 = Annotated[Integers, Vector(USHORT, 4, packed=True)]
packed_int2 = Annotated[Integers, Vector(INT, 2, packed=True)]
packed_int3 = Annotated[Integers, Vector(INT, 3, packed=True)]
packed_int4 = Annotated[Integers, Vector(INT, 4, packed=True)]
packed_uint2 = Annotated[Integers, Vector(UINT, 2, packed=True)]
packed_uint3 = Annotated[Integers, Vector(UINT, 3, packed=True)]
packed_uint4 = Annotated[Integers, Vector(UINT, 4, packed=True)]
packed_long2 = Annotated[Integers, Vector(LONG, 2, packed=True)]
packed_long3 = Annotated[Integers, Vector(LONG, 3, packed=True)]
packed_long4 = Annotated[Integers, Vector(LONG, 4, packed=True)]
packed_ulong2 = Annotated[Integers, Vector(ULONG, 2, packed=True)]
packed_ulong3 = Annotated[Integers, Vector(ULONG, 3, packed=True)]
packed_ulong4 = Annotated[Integers, Vector(ULONG, 4, packed=True)]
packed_half2 = Annotated[Reals, Vector(HALF, 2, packed=True)]
packed_half3 = Annotated[Reals, Vector(HALF, 3, packed=True)]
packed_half4 = Annotated[Reals, Vector(HALF, 4, packed=True)]
packed_bfloat2 = Annotated[Reals, Vector(BFLOAT, 2, packed=True)]
packed_bfloat3 = Annotated[Reals, Vector(BFLOAT, 3, packed=True)]
packed_bfloat4 = Annotated[Reals, Vector(BFLOAT, 4, packed=True)]
packed_float2 = Annotated[Reals, Vector(FLOAT, 2, packed=True)]
packed_float3 = Annotated[Reals, Vector(FLOAT, 3, packed=True)]
packed_float4 = Annotated[Reals, Vector(FLOAT, 4, packed=True)]
