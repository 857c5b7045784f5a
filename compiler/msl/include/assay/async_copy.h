// What a simdgroup's asynchronous copies do, done at once: the lanes share the elements.
#pragma once
#include "vector_names.h"
#include "simdgroup.h"

namespace metal {
// What models of machines and proofs find again by its name: where a copy begins, what it reads and
// writes, its event, and the wait for it.
struct __op_copy { template <class T> static __ASSAY_FN T call(T x) { return x; } };
struct __op_copied_from { template <class W> static __ASSAY_FN W call(W x) { return x; } };
struct __op_copied_to { template <class W> static __ASSAY_FN W call(W x) { return x; } };
struct __op_copy_event { template <class T> static __ASSAY_FN T call(T x) { return x; } };

// Copies of a simdgroup are told apart by where they write: a copy's event is one of these numbers.
template <class D>
__ASSAY_LANE_FN int __copy_number(D to) {
  return 1 + int((uint(ulong(to)) >> 4) * 2654435761u >> 28);
}

// Elements of `size` bytes in words of type W: element `i` of the target is element `source(i)`.
template <class W, class D, class S, class Place>
__ASSAY_LANE_FN void __copy_elements(D to, S from, ulong size, ulong count, Place place) {
  ulong words = size / sizeof(W);
  __assay_fence(__op_copy::call(0), 0, 0);  // orders nothing
  __assay_access_kind(1 | __copy_number(to) << 8);
  for (ulong i = __lane_id(); i < count * words; i += 32) {
    auto where = place(i / words);
    W word = where.inside ? __op_copied_from::call(from[where.from * words + i % words]) : W(0);
    to[where.to * words + i % words] = __op_copied_to::call(word);
  }
  __assay_access_kind(0);
}
template <class D, class S, class Place>
__ASSAY_LANE_FN void __copy_by_words(D to, S from, ulong size, ulong align, ulong count, Place place) {
  if (align % 4 == 0) {
    __copy_elements<uint>((typename __in_space<D, uint>::type)to,
                          (typename __in_space<S, const uint>::type)from, size, count, place);
  } else if (align % 2 == 0) {
    __copy_elements<ushort>((typename __in_space<D, ushort>::type)to,
                            (typename __in_space<S, const ushort>::type)from, size, count, place);
  } else {
    __copy_elements<uchar>((typename __in_space<D, uchar>::type)to,
                           (typename __in_space<S, const uchar>::type)from, size, count, place);
  }
}
struct __copied { ulong to, from; bool inside; };

template <class D, class S>
__ASSAY_LANE_FN void* __copy_line(ulong size, ulong align, D to, S from, ulong count) {
  __copy_by_words(to, from, size, align, count, [](ulong i) __attribute__((nodebug)) { return __copied{i, i, true}; });
  return (void*)ulong(__op_copy_event::call(__copy_number(to)));
}
// A tile of (columns, rows). What the source tile has not is zero, or with `clamp` its edge.
template <class D, class S>
__ASSAY_LANE_FN void* __copy_tile(ulong size, ulong align, D to, ulong to_row, vec<ulong, 2> to_tile,
                                  S from, ulong from_row, vec<ulong, 2> from_tile,
                                  vec<long, 2> at, int clamp) {
  ulong columns = to_tile.__v[0], width = from_tile.__v[0], height = from_tile.__v[1];
  long left = at.__v[0], top = at.__v[1];
  __copy_by_words(to, from, size, align, columns * to_tile.__v[1], [=](ulong i) __attribute__((nodebug)) {
    ulong row = i / columns, column = i % columns;
    long x = long(column) + left, y = long(row) + top;
    bool inside = x >= 0 && y >= 0 && ulong(x) < width && ulong(y) < height;
    if (clamp != 0) {
      x = x < 0 ? 0 : ulong(x) < width ? x : long(width) - 1;
      y = y < 0 ? 0 : ulong(y) < height ? y : long(height) - 1;
    }
    return __copied{row * to_row + column, ulong(y) * from_row + ulong(x), inside || clamp != 0};
  });
  return (void*)ulong(__op_copy_event::call(__copy_number(to)));
}
__ASSAY_LANE_FN void __wait_for_copies(int count, void** events) {
  for (int i = 0; i < count; ++i) __assay_access_kind(2 | int(ulong(events[i])) << 8);
  __assay_simdgroup_barrier(__op_copy::call(3));
}
}  // namespace metal
