"""Which elements keep one order: cut where axes are joined and cut, tied where values meet."""

from __future__ import annotations

from assay.compiler.graph.tosa import ops
from assay.compiler.torq.hl.dialect import parsed
from assay.compiler.torq.passes.orders import groups_of

from .examples import module


def _channels(body: str) -> list[tuple[int, int]]:
    """(size, how many axes it is part of) of the groups in axes of channels."""
    (function,) = ops.functions(parsed(module(body)))
    found = []
    for group in groups_of(ops.body(function)):
        own = [place for place, _ in group.starts if place[1] == 1]
        if own:
            found.append((group.size, len(own)))
    return sorted(found)


def _convolution(name: str, of: str, made: int, read: int = 8) -> str:
    return (
        f"%w{name} = torq_hl.const {{values = dense<1> : tensor<{made}x{read}x1x1xi8>}}"
        f" : tensor<{made}x{read}x1x1xi8>\n"
        f"%b{name} = torq_hl.const {{values = dense<1> : tensor<{made}xi32>}}"
        f" : tensor<{made}xi32>\n"
        f"%{name} = torq_hl.convolution %{of}, %w{name}, %b{name} : "
        f"(tensor<1x{read}x2x2xi8, planes>, tensor<{made}x{read}x1x1xi8>, tensor<{made}xi32>)"
        f" -> tensor<1x{made}x2x2xi32, planes>"
    )


def _narrow(name: str, of: str, many: int = 8) -> str:
    return (
        f"%{name} = torq_hl.scale %{of} {{rescale = #torq_hl.rescale<[1], [9], zp 0, "
        f"range -128 to 127>}} : (tensor<1x{many}x2x2xi32, planes>)"
        f" -> tensor<1x{many}x2x2xi8, planes>"
    )


def test_channels_between_convolutions_are_one_group_and_those_outside_are_none() -> None:
    body = "\n".join([_convolution("a", "x", 8), _narrow("s", "a"), _convolution("c", "s", 8)])
    assert _channels(body) == [(8, 2)]


def test_operands_of_an_addition_keep_one_order() -> None:
    body = "\n".join(
        [
            _convolution("a", "x", 8),
            _narrow("s", "a"),
            _convolution("c", "s", 8),
            _narrow("t", "c"),
            "%u = torq_hl.add %s, %t {weights_ab = array<i64: 1, 1>, rescale = "
            "#torq_hl.rescale<[1], [1], zp 0, range -128 to 127>} : "
            "(tensor<1x8x2x2xi8, planes>, tensor<1x8x2x2xi8, planes>)"
            " -> tensor<1x8x2x2xi8, planes>",
            _convolution("d", "u", 8),
        ]
    )
    assert _channels(body) == [(8, 5)]


def test_an_argument_keeps_its_order_and_so_does_what_is_added_to_it() -> None:
    body = "\n".join(
        [
            _convolution("a", "x", 8),
            _narrow("s", "a"),
            "%u = torq_hl.add %s, %x {weights_ab = array<i64: 1, 1>, rescale = "
            "#torq_hl.rescale<[1], [1], zp 0, range -128 to 127>} : "
            "(tensor<1x8x2x2xi8, planes>, tensor<1x8x2x2xi8, planes>)"
            " -> tensor<1x8x2x2xi8, planes>",
            _convolution("d", "u", 8),
        ]
    )
    assert _channels(body) == []


def test_parts_that_are_joined_or_cut_out_are_groups_of_their_own() -> None:
    body = "\n".join(
        [
            _convolution("a", "x", 8),
            _narrow("s", "a"),
            "%h = torq_hl.slice %s {starts = array<i64: 0, 2, 0, 0>} : "
            "(tensor<1x8x2x2xi8, planes>) -> tensor<1x3x2x2xi8, planes>",
            "%j = torq_hl.concat %h, %s {axis = 1 : i64} : "
            "(tensor<1x3x2x2xi8, planes>, tensor<1x8x2x2xi8, planes>)"
            " -> tensor<1x11x2x2xi8, planes>",
            _convolution("c", "j", 8, 11),
        ]
    )
    # Two before the slice, three in it and three behind it: in the sums, scaled, joined; what is
    # cut out is in the slice and twice in what is joined.
    assert _channels(body) == [(2, 3), (3, 3), (3, 5)]
