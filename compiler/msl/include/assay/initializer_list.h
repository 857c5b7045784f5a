// std::initializer_list, which the compiler itself makes of a list in braces.
#pragma once
#include "base.h"

namespace std {
template <class T>
class initializer_list {
  const T* __begin;
  size_t __size;

 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = const T*;
  __ASSAY_MEMBER constexpr initializer_list() : __begin(nullptr), __size(0) {}
  __ASSAY_MEMBER constexpr size_t size() const { return __size; }
  __ASSAY_MEMBER constexpr const T* begin() const { return __begin; }
  __ASSAY_MEMBER constexpr const T* end() const { return __begin + __size; }
};
}  // namespace std

namespace metal {
using std::initializer_list;
}  // namespace metal
