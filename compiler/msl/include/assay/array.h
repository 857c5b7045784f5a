// array<T, N>: a fixed number of elements that can be passed and returned.
#pragma once
#include "traits.h"

namespace metal {
template <class T, size_t N>
struct array {
  T __elems_[N ? N : 1];
  template <class S>
  __ASSAY_MEMBER constexpr auto& operator[](this S&& self, size_t i) { return self.__elems_[i]; }
  template <class S> __ASSAY_MEMBER constexpr auto* data(this S&& self) { return self.__elems_; }
  template <class S> __ASSAY_MEMBER constexpr auto* begin(this S&& self) { return self.__elems_; }
  template <class S> __ASSAY_MEMBER constexpr auto* end(this S&& self) { return self.__elems_ + N; }
  template <class S> __ASSAY_MEMBER constexpr auto& front(this S&& self) { return self.__elems_[0]; }
  template <class S> __ASSAY_MEMBER constexpr auto& back(this S&& self) { return self.__elems_[N - 1]; }
  template <class S> __ASSAY_MEMBER constexpr void fill(this S& self, const T& value) {
    for (size_t i = 0; i < N; ++i) self.__elems_[i] = value;
  }
  __ASSAY_MEMBER static constexpr size_t size() { return N; }
  __ASSAY_MEMBER static constexpr size_t max_size() { return N; }
  __ASSAY_MEMBER static constexpr bool empty() { return N == 0; }
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
}  // namespace metal
