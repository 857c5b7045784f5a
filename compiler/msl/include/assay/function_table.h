// Tables of visible functions: numbers of functions, called through a switch over those linked.
#pragma once
#include "traits.h"

namespace metal {
// A type of function, as something that the dispatcher (linking.py) can be found by.
template <class F> struct __signature {};
// A parameter that says nothing of the type it is deduced from.
template <class T> struct __as_given { using type = T; };
// A function of a number that no linked function has, or an empty place of a table.
__ASSAY_FN void __call_nothing() { (void)*(volatile __ASSAY_DEVICE uint*)nullptr; }

template <class F> struct __linked;
template <class R, class... A> struct __linked<R(A...)> {
  uint __number;
  __ASSAY_MEMBER R operator()(A... a) const {
    return __assay_call_linked(__signature<R(A...)>{}, __number, static_cast<A&&>(a)...);
  }
  __ASSAY_MEMBER explicit operator bool() const { return __number != 0u; }
  __ASSAY_MEMBER bool operator==(__linked o) const { return __number == o.__number; }
};
template <class F> __ASSAY_FN bool is_function_pointer_null(__linked<F> f) { return !f; }

// How many places, then the number of the function in each; 0 is none.
template <class F> struct visible_function_table {
  using value_type = F;
  const __ASSAY_CONSTANT uint* __numbers;
  __ASSAY_MEMBER uint size() const { return __numbers ? __numbers[0] : 0u; }
  __ASSAY_MEMBER bool empty() const { return size() == 0u; }
  __ASSAY_MEMBER __linked<F> operator[](size_t i) const {
    return {i < size() ? __numbers[i + 1] : 0u};
  }
};
template <class T> constexpr bool __is_function_table = false;
template <class F> constexpr bool __is_function_table<visible_function_table<F>> = true;
template <class F> __ASSAY_FN bool is_null_visible_function_table(visible_function_table<F> t) {
  return !t.__numbers;
}
}  // namespace metal
