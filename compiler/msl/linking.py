"""Calls through tables of visible functions: a switch over the functions that are linked.

The headers call `__assay_call_linked` by the type of the function, which a template of ours behind
the program's text answers: argument-dependent lookup finds it where the templates are instantiated,
at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from .rewrite.kernels import EntryPoint

# A program without this word has no tables.
TABLE = "visible_function_table"


def dispatcher(linked: Sequence[EntryPoint]) -> str:
    """C++ that calls function number n of `linked`, from 1 on, if its type is the table's."""
    cases = "".join(
        f"if constexpr (__is_same(decltype({function.expression}), R(A...)))"
        f" if (__number == {number}u) return {function.expression}(static_cast<A&&>(a)...);"
        for number, function in enumerate(linked, 1)
    )
    return (
        "\nnamespace metal { template <class R, class... A> __ASSAY_FN R __assay_call_linked("
        "__signature<R(A...)>, uint __number, typename __as_given<A>::type... a) "
        f"{{ {cases} __call_nothing();"
        " if constexpr (!__is_void(R)) return R(); } }"
    )
