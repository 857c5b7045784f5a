#include <metal_stdlib>
using namespace metal;

struct Pair {
  float a, b;
};
// Nothing but functions follows up to the next class: no semicolon ends them.
constexpr bool operator>=(Pair x, Pair y) {
  return x.a >= y.a;
}
constexpr bool operator<=(Pair x, Pair y) {
  return y >= x;
}
constexpr bool operator<(Pair x, Pair y) {
  return !(x >= y);
}
constexpr bool operator>(Pair x, Pair y) {
  return y < x;
}
constexpr int operator<<(Pair x, int n) {
  return int(x.a) << n;
}
namespace logging {
struct Log {
  constexpr Log(constant char*, constant char*) constant {}
  template <typename... Args>
  int count(constant char*, Args...) const {
    return 1;
  }
  template <typename... Args>
  int count(constant char*, Args...) const constant {
    return 2;
  }
  bool operator()(int n) const constant {
    return n > 0;
  }
};
}  // namespace logging
constant logging::Log logger("program", "pairs");

kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  Pair p{x[i], 1}, q{2, 2};
  bool ordered = p >= q || p <= q || p < q || p > q;
  x[i] = logger.count("one", p.a) + float(ordered && logger(1)) + float(p << 1);
}
