#include <metal_stdlib>
using namespace metal;

template <typename T, int N>
[[kernel]] void add(device T* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  a[i] += T(N);
}
template [[host_name("add_f_1")]] [[kernel]] void add<float, 1>(device float*, uint);
template [[host_name("add_h_2")]] kernel void add<half, 2>(device half* a [[buffer(0)]],
                                                           uint i [[thread_position_in_grid]]);
typedef decltype(add<int, 3>) add_t;
template [[host_name("add_i_3")]] [[kernel]] add_t add<int, 3>;
