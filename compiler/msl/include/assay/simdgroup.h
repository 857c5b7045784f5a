// Functions over the 32 lanes of a simdgroup and the 4 of a quadgroup.
#pragma once
#include "intrinsics.h"
#include "relational.h"

#define __ASSAY_LANE_FN __attribute__((convergent)) __ASSAY_FN

namespace metal {
// One value from the lane `lane`, whatever its type: moved as integers of its size.
template <class T>
__ASSAY_LANE_FN T __from_lane(T value, uint lane) {
  if constexpr (__is_vec<T>) {
    using E = __element<T>;
    if constexpr (__count<T> == 2) {
      return T(__from_lane((E)value.__v[0], lane), __from_lane((E)value.__v[1], lane));
    } else if constexpr (__count<T> == 3) {
      return T(__from_lane((E)value.__v[0], lane), __from_lane((E)value.__v[1], lane),
               __from_lane((E)value.__v[2], lane));
    } else {
      return T(__from_lane((E)value.__v[0], lane), __from_lane((E)value.__v[1], lane),
               __from_lane((E)value.__v[2], lane), __from_lane((E)value.__v[3], lane));
    }
  } else if constexpr (sizeof(T) == 1) {
    return (T)__assay_simd_shuffle_i16((ushort)(uchar)value, lane);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, __assay_simd_shuffle_i16(__builtin_bit_cast(ushort, value), lane));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __assay_simd_shuffle_i32(__builtin_bit_cast(uint, value), lane));
  } else {
    static_assert(sizeof(T) == 8, "this type cannot be moved between lanes");
    return __builtin_bit_cast(T, __assay_simd_shuffle_i64(__builtin_bit_cast(ulong, value), lane));
  }
}
template <class T>
__ASSAY_LANE_FN T __from_first(T value) {
  if constexpr (__is_vec<T>) {
    using E = __element<T>;
    if constexpr (__count<T> == 2) {
      return T(__from_first((E)value.__v[0]), __from_first((E)value.__v[1]));
    } else if constexpr (__count<T> == 3) {
      return T(__from_first((E)value.__v[0]), __from_first((E)value.__v[1]),
               __from_first((E)value.__v[2]));
    } else {
      return T(__from_first((E)value.__v[0]), __from_first((E)value.__v[1]),
               __from_first((E)value.__v[2]), __from_first((E)value.__v[3]));
    }
  } else if constexpr (sizeof(T) == 1) {
    return (T)__assay_simd_broadcast_first_i16((ushort)(uchar)value);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, __assay_simd_broadcast_first_i16(__builtin_bit_cast(ushort, value)));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __assay_simd_broadcast_first_i32(__builtin_bit_cast(uint, value)));
  } else {
    return __builtin_bit_cast(T, __assay_simd_broadcast_first_i64(__builtin_bit_cast(ulong, value)));
  }
}

__ASSAY_FN uint __lane_id() { return __assay_thread_index_in_simdgroup(); }
__ASSAY_FN ushort __metal_get_thread_index_in_simdgroup(ushort = 0) { return ushort(__lane_id()); }
__ASSAY_FN ushort __metal_get_simdgroup_size(ushort = 0) { return 32; }

// An argument that must be the same in all lanes; checks look whether it is.
__ASSAY_FN uint __uniform(uint value) {
  return __builtin_constant_p(value) ? value : __assay_uniform_i32(value);
}

// The number of a lane, which must be less than `Width`; checks look whether it is.
template <int Width> __ASSAY_FN uint __lane_of(uint lane) {
  bool known = __builtin_constant_p(lane) && lane < uint(Width);
  return known ? lane : __assay_lane_of_i32(lane, Width);
}

// Shuffles within clusters of `Width` lanes. A source outside the cluster gives the lane's own value.
template <int Width, class T> __ASSAY_LANE_FN T __shuffle(T value, uint lane) {
  uint self = __lane_id();
  return __from_lane(value, (self & ~uint(Width - 1)) | (__lane_of<Width>(lane) & uint(Width - 1)));
}
template <int Width, class T> __ASSAY_LANE_FN T __shuffle_down(T value, uint delta) {
  uint self = __lane_id();
  uint source = (self & uint(Width - 1)) + delta;
  return __from_lane(value, source < uint(Width) ? self + delta : self);
}
template <int Width, class T> __ASSAY_LANE_FN T __shuffle_up(T value, uint delta) {
  uint self = __lane_id();
  return __from_lane(value, (self & uint(Width - 1)) >= delta ? self - delta : self);
}
template <int Width, class T> __ASSAY_LANE_FN T __shuffle_xor(T value, uint mask) {
  return __from_lane(value, __lane_id() ^ (__lane_of<Width>(mask) & uint(Width - 1)));
}
template <int Width, class T> __ASSAY_LANE_FN T __rotate_down(T value, uint delta) {
  uint self = __lane_id();
  return __from_lane(value, (self & ~uint(Width - 1)) | ((self + delta) & uint(Width - 1)));
}
template <int Width, class T> __ASSAY_LANE_FN T __rotate_up(T value, uint delta) {
  uint self = __lane_id();
  return __from_lane(value, (self & ~uint(Width - 1)) | ((self - delta) & uint(Width - 1)));
}
// Values that come from beyond the end of a segment of `modulo` lanes are taken from `filling`.
template <int Width, class T>
__ASSAY_LANE_FN T __fill_down(T value, T filling, uint delta, uint modulo) {
  uint self = __lane_id();
  uint at = self & (modulo - 1u);
  uint source = (self & ~(modulo - 1u)) | ((at + delta) & (modulo - 1u));
  T moved = __from_lane(value, source);
  T filled = __from_lane(filling, source);
  return at + delta < modulo ? moved : filled;
}
template <int Width, class T>
__ASSAY_LANE_FN T __fill_up(T value, T filling, uint delta, uint modulo) {
  uint self = __lane_id();
  uint at = self & (modulo - 1u);
  uint source = (self & ~(modulo - 1u)) | ((at - delta) & (modulo - 1u));
  T moved = __from_lane(value, source);
  T filled = __from_lane(filling, source);
  return at >= delta ? moved : filled;
}

// What the lanes of a GPU's simdgroup exchange: numbers of up to 32 bits and vectors of them.
template <class T>
struct __is_valid_simdgroup_type
    : bool_constant<__is_arithmetic(__element<T>) && sizeof(__element<T>) <= 4> {};

template <class T> using __moved_t = __joined_t<T>;

#define __ASSAY_SHUFFLES(group, Width)                                                            \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle(T v, ushort lane) {             \
    return __shuffle<Width, __moved_t<T>>(v, lane);                                               \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_broadcast(T v, ushort lane) {           \
    return __shuffle<Width, __moved_t<T>>(v, __uniform(lane));                                    \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle_down(T v, ushort delta) {       \
    return __shuffle_down<Width, __moved_t<T>>(v, __uniform(delta));                              \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle_up(T v, ushort delta) {         \
    return __shuffle_up<Width, __moved_t<T>>(v, __uniform(delta));                                \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle_xor(T v, ushort mask) {         \
    return __shuffle_xor<Width, __moved_t<T>>(v, __uniform(mask));                                \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle_rotate_down(T v, ushort delta) { \
    return __rotate_down<Width, __moved_t<T>>(v, __uniform(delta));                               \
  }                                                                                               \
  template <class T> __ASSAY_LANE_FN __moved_t<T> group##_shuffle_rotate_up(T v, ushort delta) {  \
    return __rotate_up<Width, __moved_t<T>>(v, __uniform(delta));                                 \
  }                                                                                               \
  template <class T, class U>                                                                     \
  __ASSAY_LANE_FN __moved_t<T> group##_shuffle_and_fill_down(T v, U f, ushort delta,              \
                                                             ushort modulo = Width) {             \
    return __fill_down<Width, __moved_t<T>>(v, f, __uniform(delta), modulo);                      \
  }                                                                                               \
  template <class T, class U>                                                                     \
  __ASSAY_LANE_FN __moved_t<T> group##_shuffle_and_fill_up(T v, U f, ushort delta,                \
                                                           ushort modulo = Width) {               \
    return __fill_up<Width, __moved_t<T>>(v, f, __uniform(delta), modulo);                        \
  }
__ASSAY_SHUFFLES(simd, 32)
__ASSAY_SHUFFLES(quad, 4)
#undef __ASSAY_SHUFFLES

template <class T> __ASSAY_LANE_FN __moved_t<T> simd_broadcast_first(T v) {
  return __from_first<__moved_t<T>>(v);
}
template <class T> __ASSAY_LANE_FN __moved_t<T> quad_broadcast_first(T v) {
  uint quad = __lane_id() & ~3u;
  uint active = uint(__assay_simd_active_mask() >> quad) & 15u;
  return __shuffle<4, __moved_t<T>>(v, uint(__builtin_ctzg(active, 0)));
}

// Votes.
struct simd_vote {
  typedef ulong vote_t;
  vote_t __votes;
  simd_vote() = default;
  __ASSAY_MEMBER explicit constexpr simd_vote(vote_t v) : __votes(v) {}
  __ASSAY_MEMBER explicit constexpr operator vote_t() const { return __votes; }
  __ASSAY_MEMBER bool any() const { return __votes != 0; }
  __ASSAY_MEMBER bool all() const { return __votes == 0xfffffffful; }
};
struct quad_vote {
  typedef ushort vote_t;
  vote_t __votes;
  quad_vote() = default;
  __ASSAY_MEMBER explicit constexpr quad_vote(vote_t v) : __votes(v) {}
  __ASSAY_MEMBER explicit constexpr operator vote_t() const { return __votes; }
  __ASSAY_MEMBER bool any() const { return __votes != 0; }
  __ASSAY_MEMBER bool all() const { return __votes == 15; }
};
__ASSAY_LANE_FN simd_vote simd_ballot(bool p) { return simd_vote(__assay_simd_ballot(p)); }
__ASSAY_LANE_FN simd_vote simd_active_threads_mask() { return simd_vote(__assay_simd_active_mask()); }
__ASSAY_LANE_FN bool simd_any(bool p) { return __assay_simd_ballot(p) != 0; }
__ASSAY_LANE_FN bool simd_all(bool p) { return __assay_simd_ballot(!p) == 0; }
__ASSAY_LANE_FN bool simd_is_first() {
  return uint(__builtin_ctzg(__assay_simd_active_mask(), 64)) == __lane_id();
}
__ASSAY_FN bool simd_is_helper_thread() { return false; }
__ASSAY_LANE_FN ushort __quad_bits(ulong votes) { return ushort((votes >> (__lane_id() & ~3u)) & 15u); }
__ASSAY_LANE_FN quad_vote quad_ballot(bool p) { return quad_vote(__quad_bits(__assay_simd_ballot(p))); }
__ASSAY_LANE_FN quad_vote quad_active_threads_mask() {
  return quad_vote(__quad_bits(__assay_simd_active_mask()));
}
__ASSAY_LANE_FN bool quad_any(bool p) { return __quad_bits(__assay_simd_ballot(p)) != 0; }
__ASSAY_LANE_FN bool quad_all(bool p) { return __quad_bits(__assay_simd_ballot(!p)) == 0; }
__ASSAY_LANE_FN bool quad_is_first() {
  uint active = __quad_bits(__assay_simd_active_mask());
  return uint(__builtin_ctzg(active, 32)) == (__lane_id() & 3u);
}
}  // namespace metal
