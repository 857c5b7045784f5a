// What the compiler makes of string literals and __func__: constants of their own.
#pragma once
#include "base.h"

template <unsigned N>
struct __assay_chars {
  char text[N];
  constexpr __assay_chars(const char (&given)[N]) {
    for (unsigned i = 0; i < N; ++i) text[i] = given[i];
  }
};

template <__assay_chars S>
struct __assay_literal {
  static constexpr const __attribute__((opencl_global_host)) __assay_chars<sizeof(S.text)> value = S;
};

struct __assay_function_chars {
  char text[128];
  constexpr __assay_function_chars(const char* given) : text{} {
    for (unsigned i = 0; i + 1 < sizeof(text) && given[i]; ++i) text[i] = given[i];
  }
};

template <__assay_function_chars S>
struct __assay_function_name {
  static constexpr const __attribute__((opencl_global_host)) __assay_function_chars value = S;
};
