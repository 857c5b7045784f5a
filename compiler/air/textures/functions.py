"""Functions of AIR on textures, by those of our MSL headers.

A texture is the address of its description, a sampler its word. The operands are those of Apple's
compilers as public disassemblies and tools that write AIR have them (DXMT's converter, libfloor,
metal2vulkan's fixtures): AIR up to 2.0 has no last operand (0 sample, 1 read, 2 write, 3 both) and
no least level, AIR 2.8 gives reads a sampler and an offset. What differs is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..body import Body, define
from ..flat import flattened, scalar_type
from ..names import AirFunction, vector_parts
from .shapes import SHAPES, Operands, Shape, Unlike, shapes_by_length

_NAMES = "|".join(re.escape(name) for name, _ in shapes_by_length())
_NAME = re.compile(
    rf"(?P<operation>[a-z_]+?)_(?P<shape>{_NAMES})(?P<grad>_grad)?(?:\.device_coherent)?"
)
_ATOMIC = re.compile(
    rf"atomic_(?P<operation>fetch_[a-z]+|exchange|load|store|compare_exchange_weak)_explicit"
    rf"_(?P<shape>{_NAMES})"
)
_READ_WRITE = 3
# What names `access` is compiled with the headers of textures.
_DESCRIPTION = "using metal::access; __texture_pointer d = (__texture_pointer)p0; "
_QUERIES = {
    "get_width": "__extent(d->width, {})",
    "get_height": "__extent(d->height, {})",
    "get_depth": "__extent(d->depth, {})",
    "get_array_size": "d->array_length",
    "get_num_mip_levels": "d->levels",
    "get_num_samples": "d->samples",
    "is_null": "p0 == 0",
}


def is_of_textures(function: AirFunction) -> bool:
    """Whether a function is one of textures or samplers, known or not."""
    return "_texture" in function.name or "_depth" in function.name or "_sampler" in function.name


def texture_body(function: AirFunction) -> Body | None:
    """A function on textures; None for others, and for those that are not known."""
    if function.operation in ("get_read_sampler", "get_null_sampler"):
        return nothing(function)
    try:
        atomic = _ATOMIC.fullmatch(function.operation)
        if atomic:
            return _atomic(function, atomic["operation"], SHAPES[atomic["shape"]])
        found = _NAME.fullmatch(function.operation)
        if found is None:
            return None
        operation = found["operation"] + (found["grad"] or "")
        if operation == "get_null":
            return nothing(function)
        return _texture(function, operation, SHAPES[found["shape"]])
    except Unlike:
        return None


def nothing(function: AirFunction) -> Body | None:
    """A texture, sampler or table that is none; None if it is made of something."""
    if function.parameters or not function.result.startswith("ptr"):
        return None
    line = f"  %r = inttoptr i64 0 to {function.result}\n"
    return Body(define(function, line, "%r"))


def _texture(function: AirFunction, operation: str, shape: Shape) -> Body | None:
    operands = Operands(function)
    operands.pointer("1")
    if operation in _QUERIES:
        level = "0u"
        if shape.has_levels and operation in ("get_width", "get_height", "get_depth"):
            level = operands.integer()
        operands.end()
        code = f"return {_QUERIES[operation].format(level)};"
        return flattened(function, _DESCRIPTION + code, handles=True)
    if operation == "fence":
        operands.end()
        return flattened(function, "__assay_fence(__ordered(mem_flags::mem_texture), 5, 0);")
    make = _MAKERS.get(operation)
    if make is None:
        return None
    code = make(function, shape, operands)
    operands.end()
    return flattened(
        function,
        f"{_DESCRIPTION}{code}",
        handles=True,
        signed=function.is_signed,
        in_memory=True,
    )


def _element(function: AirFunction) -> str:
    """C++ type of a texel's channels."""
    value = function.result
    if value == "void":
        value = next((k for k in function.parameters if (vector_parts(k) or (0,))[0] == 4), "")
    value = value.removeprefix("{").removesuffix(", i8 }").strip()
    found = scalar_type((vector_parts(value) or (0, value))[1], signed=function.is_signed)
    if found is None or found in ("bfloat", "long", "ulong", "signed char", "uchar"):
        raise Unlike
    return found


def _stored(value: str, shape: Shape, *, is_texel: bool = True) -> str:
    """Code that writes a texel to the result: its first channel, if it is a depth."""
    count = 4 if is_texel and not shape.is_depth else 1
    if count == 1:
        return f"*out = {value}.__v[0];"
    return f"auto v = {value}; " + " ".join(f"out[{at}] = v.__v[{at}];" for at in range(4))


def _depth_format(shape: Shape, operands: Operands) -> None:
    if shape.is_depth:
        operands.integer()


def _access(operands: Operands) -> str:
    """The last operand, which AIR up to 2.0 has not."""
    return operands.integer() if operands.left else "0u"


def _place(shape: Shape, at: Sequence[str], offsets: Sequence[str], image: str) -> str:
    """Where to sample, as our headers say it."""
    given = f"float{shape.sampled_axes}({', '.join(at)})"
    moved = f"int{shape.axes}({', '.join(offsets)})" if shape.axes > 1 else offsets[0]
    if shape.is_cube:
        return f"__at_cube({given}, {image})"
    if shape.axes == 1:
        return f"__at1({at[0]}, {moved}, {image})"
    return f"__at2({given}, {moved}, {image})" if shape.axes == 2 else f"__at3({given}, {moved})"


def _sampler(shape: Shape) -> tuple[str, str]:
    """The dimension of sampling, and the code of the sampler `s`, parameter 1."""
    code = "sampler s; s.__bits = p1; "
    return ("__cube", code + "s = __on_cube(s); ") if shape.is_cube else (str(shape.axes), code)


def _sampled(function: AirFunction, shape: Shape, operands: Operands, *, how: str) -> str:
    """`sample_*`, `gather_*`: `how` is level, grad, gather, and with compare_ in front of them."""
    if shape.is_multisampled or not shape.has_levels:
        raise Unlike
    dimension, code = _sampler(shape)
    operands.pointer("6")
    _depth_format(shape, operands)
    at = operands.reals(shape.sampled_axes)
    image = f"__slice(d, {operands.integer()})" if shape.is_array else "0u"
    compare = operands.real() if how.startswith("compare_") else ""
    gradient = ""
    if how == "grad":
        if shape.axes == 1:
            raise Unlike
        kind = "gradientcube" if shape.is_cube else f"gradient{shape.axes}d"
        steps = [", ".join(operands.reals(shape.sampled_axes)) for _ in range(2)]
        sized = f"float{shape.sampled_axes}"
        gradient = f"__lod_of(d, {kind}({sized}({steps[0]}), {sized}({steps[1]})))"
        gradient = f"__greatest({gradient}, {operands.real()})"
    offsets = ["0"] * shape.axes
    if shape.has_offset and not (how.endswith("gather") and shape.axes != 2):
        operands.flag()
        offsets = operands.offsets(shape.axes)
    where = _place(shape, at, offsets, image)
    element = "float" if compare else _element(function)
    if how.endswith("gather"):
        which = "0u" if shape.is_depth else operands.integer()
        _access(operands)
        called = f"metal::__gather<{element}, {dimension}>(d, s, {where}, {which})"
        if compare:
            called = f"__gather_compare<{dimension}>(d, s, {where}, {compare})"
        return code + f"auto v = {called}; " + " ".join(f"out[{n}] = v.__v[{n}];" for n in range(4))
    lod = gradient or _lod(operands)
    _access(operands)
    if compare:
        return code + f"*out = __sample_compare<{dimension}>(d, s, {where}, {compare}, {lod});"
    return code + _stored(f"__sample<{element}, {dimension}>(d, s, {where}, {lod})", shape)


def _lod(operands: Operands) -> str:
    """The level: one that is said, or a bias and the least level; there are no derivatives."""
    is_level, value = operands.flag(), operands.real()
    if not operands.is_next("float"):
        return value
    return f"({is_level} ? {value} : __greatest({value}, {operands.real()}))"


def _image(shape: Shape, operands: Operands, *, then_samples: bool) -> str:
    """The number of a slice, face or sample among all of them."""
    image = "0u"
    if shape.is_cube:
        image = operands.integer()
    if shape.is_array:
        slice_ = operands.integer()
        image = f"{slice_} * 6u + {image}" if shape.is_cube else slice_
    if shape.is_multisampled and then_samples:
        sample = operands.integer()
        image = f"{image} * d->samples + {sample}" if shape.is_array else sample
    return image


def _texel(shape: Shape, at: Sequence[str], image: str) -> str:
    """Coordinates and image of a texel."""
    x, y, z = [*at, "0u", "0u"][:3]
    return f"{x}, {y}, {z if shape.axes == 3 else image}"


def _read(function: AirFunction, shape: Shape, operands: Operands) -> str:
    element = _element(function)
    has_sampler = operands.is_next("ptr addrspace(6)")
    if has_sampler:
        operands.pointer("6")
    _depth_format(shape, operands)
    at = operands.places(shape.axes)
    image = _image(shape, operands, then_samples=True)
    behind = 1 + shape.has_levels  # the level, and how it is accessed
    if has_sampler and shape.has_offset and operands.left == behind + 1:
        moved = operands.offsets(shape.axes)
        at = [f"({place} + uint({by}))" for place, by in zip(at, moved, strict=True)]
    level = operands.integer() if shape.has_levels else "0u"
    access = _access(operands)
    where = _texel(shape, at, image)
    kinds = [
        f"__texel_read<access::{kind}, {element}>(d, {level}, {where})"
        for kind in ("read_write", "read")
    ]
    return _stored(f"({access} == {_READ_WRITE}u ? {kinds[0]} : {kinds[1]})", shape)


def _write(function: AirFunction, shape: Shape, operands: Operands) -> str:
    if shape.is_depth or shape.is_multisampled or function.result != "void":
        raise Unlike
    element = _element(function)
    at = operands.places(shape.axes)
    image = _image(shape, operands, then_samples=False)
    known = {"float": "float", "half": "half", "short": "i16", "ushort": "i16"}
    value = ", ".join(operands.texel(known.get(element, "i32")))
    level = operands.integer() if shape.has_levels else "0u"
    access = _access(operands)
    rest = f"(d, {level}, {_texel(shape, at, image)}, vec<{element}, 4>({value}));"
    both, only = (f"__texel_write<access::{each}, {element}>" for each in ("read_write", "write"))
    return f"if ({access} == {_READ_WRITE}u) {both}{rest} else {only}{rest}"


def _atomic(function: AirFunction, operation: str, shape: Shape) -> Body | None:
    """An atomic operation on a texel of one 32-bit integer."""
    operands = Operands(function)
    operands.pointer("1")
    if shape.is_cube or shape.is_depth or shape.is_multisampled:
        return None
    element = "int" if function.is_signed else "uint"
    at = operands.places(shape.axes)
    where = f"uint{shape.axes}({', '.join(at)})" if shape.axes > 1 else at[0]
    if shape.is_array:
        where += f", {operands.integer()}"
    texture = f"{shape.msl}<{element}, access::read_write> t; t.__d = (__texture_pointer)p0; "
    vector = f"vec<{element}, 4>"
    if operation == "load":
        code = _stored(f"t.atomic_load({where})", shape)
    elif operation == "compare_exchange_weak":
        expected = operands.pointer("")
        value = ", ".join(operands.texel("i32"))
        operands.integer()
        exchanged = f"atomic_compare_exchange_weak({where}, &e, {vector}({value}))"
        code = (
            f"{vector} e({element}(0)); e.__e[0] = *({element}*){expected}; "
            f"bool done = t.{exchanged}; *({element}*){expected} = e.__e[0]; return done;"
        )
    else:
        value = f"{vector}({', '.join(operands.texel('i32'))})"
        if operation == "store":
            code = f"t.atomic_store({value}, {where});"
        else:
            code = _stored(f"t.atomic_{operation}({where}, {value})", shape)
    operands.integer()  # the order
    operands.integer()
    operands.end()
    return flattened(function, texture + code, handles=True, signed=function.is_signed)


def _by(how: str) -> Callable[[AirFunction, Shape, Operands], str]:
    return lambda function, shape, operands: _sampled(function, shape, operands, how=how)


_MAKERS: dict[str, Callable[[AirFunction, Shape, Operands], str]] = {
    "sample": _by("level"),
    "sample_grad": _by("grad"),
    "sample_compare": _by("compare_level"),
    "gather": _by("gather"),
    "gather_compare": _by("compare_gather"),
    "read": _read,
    "write": _write,
}
