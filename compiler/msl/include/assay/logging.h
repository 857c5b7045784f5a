// os_log: messages go as records into a buffer that the host reads after the dispatch.
#pragma once
#include "packed.h"
#include "vector_operators.h"

extern "C" __attribute__((const, nothrow)) __ASSAY_DEVICE unsigned* __assay_log_buffer();

namespace metal {
// Numbers of MTLLogLevel.
enum log_type {
  log_type_debug = 1, log_type_info = 2, log_type_default = 3, log_type_error = 4,
  log_type_fault = 5,
};

// As hal/metal/emulated/commands/shader_log.py reads them: words of the buffer's and a record's head.
constexpr uint __log_head = 4;
constexpr uint __record_head = 10;
enum class __log_kind : uint { signed_, unsigned_, real, string };

template <class T> struct __is_text { static constexpr bool value = false; };
template <class T> requires(__is_same(__bare_t<T>, char))
struct __is_text<T*> { static constexpr bool value = true; };
template <class A> using __logged = __unpacked_t<A>;
template <class A> constexpr uint __argument_words = 1u + 2u * __count<__logged<A>>;

struct __log_writer {
  __ASSAY_DEVICE uint* at;
  __ASSAY_MEMBER void word(uint value) { *at++ = value; }
  __ASSAY_MEMBER void wide(ulong value) {
    word(uint(value));
    word(uint(value >> 32));
  }
  __ASSAY_MEMBER void text(const char* value) { wide((ulong)value); }
  template <class T> __ASSAY_MEMBER void number(T value) {
    if constexpr (__is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat)) {
      wide(__builtin_bit_cast(uint, (float)value));
    } else if constexpr (__is_pointer(T)) {
      wide((ulong)value);
    } else {
      wide((ulong)(long)value);
    }
  }
  template <class T> __ASSAY_MEMBER static constexpr uint tag(uint count) {
    __log_kind kind = __is_text<T>::value ? __log_kind::string
                    : __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat) ? __log_kind::real
                    : __is_pointer(T) ? __log_kind::unsigned_
                    : __is_signed(T) || __is_enum(T) ? __log_kind::signed_ : __log_kind::unsigned_;
    return uint(kind) | uint(sizeof(T)) << 8 | count << 16;
  }
  template <class A> __ASSAY_MEMBER void argument(const A& a) {
    if constexpr (__is_vec<A>) {
      word(tag<__element<A>>(__count<A>));
      for (int i = 0; i < __count<A>; ++i) number((__element<A>)a.__v[i]);
    } else {
      word(tag<A>(1));
      number(a);
    }
  }
};
// Arrays of characters are the pointers to their beginning.
template <class A> __ASSAY_FN auto __log_value(const A& a) {
  if constexpr (__is_array(A)) {
    return &a[0];
  } else {
    return (__logged<A>)a;
  }
}

struct os_log {
  const char* __subsystem;
  const char* __category;
  __ASSAY_MEMBER constexpr os_log(const char* subsystem, const char* category)
      : __subsystem(subsystem), __category(category) {}

  template <class... A>
  __ASSAY_MEMBER void log_with_type(log_type type, const char* format, const A&... a) const {
    __write(type, format, __log_value(a)...);
  }
  template <class... A>
  __ASSAY_MEMBER void __write(log_type type, const char* format, const A&... a) const {
    constexpr uint words = __record_head + (0u + ... + __argument_words<A>);
    __ASSAY_DEVICE uint* log = __assay_log_buffer();
    uint room = log[0];
    // A full buffer is not counted further, or the counter would begin again.
    uint first = __assay_atomic_load_u32((uint*)log + 1);
    if (first < room) first = __assay_atomic_add_u32((uint*)log + 1, words);
    if (first + words > room) {
      __assay_atomic_add_u32((uint*)log + 2, 1u);
      return;
    }
    __log_writer to{log + __log_head + first};
    uint group = (__assay_threadgroup_position_in_grid(2) * __assay_threadgroups_per_grid(1) +
                  __assay_threadgroup_position_in_grid(1)) * __assay_threadgroups_per_grid(0) +
                 __assay_threadgroup_position_in_grid(0);
    to.word(words);
    to.word(group);
    to.word(__assay_simdgroup_index_in_threadgroup() * 32u + __assay_thread_index_in_simdgroup());
    to.word(uint(type) | uint(sizeof...(A)) << 8);
    to.text(__subsystem);
    to.text(__category);
    to.text(format);
    (to.argument(a), ...);
  }
#define __ASSAY_LOG(name, type)                                                                   \
  template <class... A> __ASSAY_MEMBER void name(const char* format, const A&... a) const {       \
    __write(type, format, __log_value(a)...);                                                     \
  }
  __ASSAY_LOG(log, log_type_default)
  __ASSAY_LOG(log_debug, log_type_debug)
  __ASSAY_LOG(log_info, log_type_info)
  __ASSAY_LOG(log_error, log_type_error)
  __ASSAY_LOG(log_fault, log_type_fault)
#undef __ASSAY_LOG
};
static constexpr os_log os_log_default{"", ""};
}  // namespace metal
