"""Functions are called as the source calls them, whatever clang makes of its words."""

import assay

SOURCE = """
struct P { int n; };
template <typename A, typename T> static float total(A p, T x, uint i) {
    float sum = 0;
    for (int k = 0; k < p.n; k++) sum += float(x[i + k]);
    return sum;
}
template <typename T> static half rounded(T x) { return half(x) / half(3); }
kernel void k(constant P& p, device half* x, threadgroup half* y,
              uint i [[thread_position_in_grid]],
              uint lane [[thread_index_in_threadgroup]]) {
    y[lane] = rounded<half>(x[i]);
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    x[i] = total<constant P&, device half*>(p, x, i);
    x[i] += total<constant P&, threadgroup half*>(p, y, 0);
}
"""


def test_template_arguments_have_the_words_of_the_language() -> None:
    result = assay.time(SOURCE, "k", {"n": 8}, None, 512, threads=256, threadgroup=64)
    names = {each.name for each in result.dispatches[0].functions}
    assert {
        "total<constant P &, device half *>",
        "total<constant P &, threadgroup half *>",
    } <= names
    assert "rounded<half>" in names
