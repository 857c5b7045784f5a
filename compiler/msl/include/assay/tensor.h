// tensor<T, Extents, Descriptor>: memory with extents and strides, of which dimension 0 is innermost.
//
// A `tensor_handle` is an argument that the host describes, a `tensor_inline` one that the kernel makes
// of a pointer. Elements outside of a tensor's extents are 0 to operations on it.
#pragma once
#include "array.h"
#include "tensor_product.h"

namespace metal {
constexpr size_t dynamic_extent = ~0ul;

template <class I, size_t... E>
struct extents {
  using index_type = I;
  using size_type = make_unsigned_t<I>;
  using rank_type = size_t;
  I __all[sizeof...(E) ? sizeof...(E) : 1] = {(E == dynamic_extent ? I(0) : I(E))...};

  constexpr extents() = default;
  // One number for each dimension, or for each that is dynamic.
  template <class... J>
    requires(sizeof...(J) > 0 && (__is_convertible(J, I) && ...) &&
             (sizeof...(J) == sizeof...(E) || sizeof...(J) == ((E == dynamic_extent) + ... + 0)))
  __ASSAY_MEMBER constexpr extents(J... given) {
    __take(array<I, sizeof...(J)>{{I(given)...}});
  }
  template <class J, size_t N>
  __ASSAY_MEMBER constexpr extents(const array<J, N>& given) { __take(given); }

  __ASSAY_MEMBER static constexpr size_t rank() { return sizeof...(E); }
  __ASSAY_MEMBER static constexpr size_t rank_dynamic() { return ((E == dynamic_extent) + ... + 0); }
  __ASSAY_MEMBER static constexpr size_t static_extent(size_t dimension) {
    constexpr size_t all[] = {E..., 0};
    return all[dimension];
  }
  __ASSAY_MEMBER constexpr I extent(size_t dimension) const { return __all[dimension]; }

  template <class J, size_t N>
  __ASSAY_MEMBER constexpr void __take(const array<J, N>& given) {
    size_t at = 0;
#pragma unroll
    for (size_t d = 0; d < rank(); ++d) {
      if (N == rank() || static_extent(d) == dynamic_extent) {
        I value = I(given.__elems_[N == rank() ? d : at++]);
        if (static_extent(d) == dynamic_extent) __all[d] = value;
      }
    }
  }
};
template <class I, size_t R, size_t... E> struct __dextents : __dextents<I, R - 1, E..., dynamic_extent> {};
template <class I, size_t... E> struct __dextents<I, 0, E...> { using type = extents<I, E...>; };
template <class I, size_t R> using dextents = typename __dextents<I, R>::type;

struct tensor_handle {};
struct tensor_inline {};
struct tensor_offset {};

// What the host writes of a tensor that is an argument: it lies in constant memory.
template <class T>
struct __tensor_data {
  T* base;
  int extents[__tensor::most_dimensions];
  int strides[__tensor::most_dimensions];
  int rank;
  int bytes;
};

// What a tensor keeps: where its elements lie and how, or for one that the host binds where that is told.
template <class T, class Extents, bool IsBound>
struct __tensor_storage {
  __tensor::view<T*> __view;
  __ASSAY_MEMBER __tensor::view<T*> __seen() const { return __view; }
};
template <class T, class Extents>
struct __tensor_storage<T, Extents, true> {
  const __ASSAY_CONSTANT __tensor_data<T>* __given = nullptr;
  __ASSAY_MEMBER __tensor::view<T*> __seen() const {
    __tensor::view<T*> view;
    view.base = __given->base;
    view.offset = 0;
#pragma unroll
    for (size_t d = 0; d < Extents::rank(); ++d) {
      bool is_static = Extents::static_extent(d) != dynamic_extent;
      view.extents[d] = is_static ? int(Extents::static_extent(d)) : __given->extents[d];
      view.strides[d] = __given->strides[d];
    }
    return view;
  }
};
template <class Descriptor, class... Tags>
constexpr bool __is_bound_tensor =
    __is_same(Descriptor, tensor_handle) && !(__is_same(Tags, tensor_offset) || ...);

template <class T, class Extents, class Descriptor = tensor_handle, class... Tags>
struct tensor : __tensor_storage<T, Extents, __is_bound_tensor<Descriptor, Tags...>> {
  static_assert(__is_same(Descriptor, tensor_handle) || __is_same(Descriptor, tensor_inline),
                "tensor: its descriptor is tensor_handle or tensor_inline");
  static_assert(Extents::rank() <= __tensor::most_dimensions, "tensor: more than 8 dimensions");
  using element_type = T;
  using value_type = __bare_t<T>;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = size_t;
  using descriptor_type = Descriptor;
  using data_handle_type = T*;
  using reference = T&;
  using __place_of = array<index_type, Extents::rank()>;
  static constexpr bool __is_bound = __is_bound_tensor<Descriptor, Tags...>;

  tensor() = default;
  // Packed: each stride is the product of the extents before.
  __ASSAY_MEMBER tensor(T* data, const Extents& given)
    requires __is_same(Descriptor, tensor_inline)
  {
    __begin(data, given);
    int stride = 1;
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) {
      this->__view.strides[d] = stride;
      stride *= this->__view.extents[d];
    }
  }
  template <class J>
  __ASSAY_MEMBER tensor(T* data, const Extents& given, const array<J, Extents::rank()>& strides)
    requires __is_same(Descriptor, tensor_inline)
  {
    __begin(data, given);
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) this->__view.strides[d] = int(strides.__elems_[d]);
  }
  __ASSAY_MEMBER explicit tensor(const __ASSAY_CONSTANT __tensor_data<T>* given)
    requires __is_bound
  {
    this->__given = given;
  }

  __ASSAY_MEMBER static constexpr size_t get_rank() { return Extents::rank(); }
  __ASSAY_MEMBER static constexpr size_t rank() { return Extents::rank(); }
  __ASSAY_MEMBER static constexpr size_t static_extent(size_t d) { return Extents::static_extent(d); }
  __ASSAY_MEMBER static constexpr size_t get_static_extent(size_t d) { return Extents::static_extent(d); }
  __ASSAY_MEMBER index_type get_extent(size_t d) const { return index_type(this->__seen().extents[d]); }
  __ASSAY_MEMBER index_type extent(size_t d) const { return get_extent(d); }
  __ASSAY_MEMBER index_type get_stride(size_t d) const { return index_type(this->__seen().strides[d]); }
  __ASSAY_MEMBER index_type stride(size_t d) const { return get_stride(d); }
  __ASSAY_MEMBER Extents extents() const {
    array<index_type, Extents::rank()> all;
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) all.__elems_[d] = get_extent(d);
    return Extents(all);
  }
  __ASSAY_MEMBER Extents get_extents() const { return extents(); }
  __ASSAY_MEMBER T* data_handle() const {
    auto view = this->__seen();
    return view.base + view.offset;
  }
  __ASSAY_MEMBER T* get_data() const { return data_handle(); }

  template <class... J>
    requires(sizeof...(J) == Extents::rank() && (__is_convertible(J, index_type) && ...))
  __ASSAY_MEMBER T& operator[](J... at) const { return __at(__place_of{{index_type(at)...}}); }
  template <class... J>
    requires(sizeof...(J) == Extents::rank() && (__is_convertible(J, index_type) && ...))
  __ASSAY_MEMBER T& operator()(J... at) const { return __at(__place_of{{index_type(at)...}}); }
  template <class J>
  __ASSAY_MEMBER T& operator[](const array<J, Extents::rank()>& at) const { return __at(at); }
  template <class... J>
  __ASSAY_MEMBER value_type get(J... at) const { return (*this)[at...]; }

  // The rest of the tensor from a place on, or as much of it as extents in template arguments say.
  template <size_t... S, class... J>
    requires(sizeof...(S) == Extents::rank() && sizeof...(J) == Extents::rank() && sizeof...(S) > 0)
  __ASSAY_MEMBER auto slice(J... start) const {
    return __slice<metal::extents<index_type, S...>>({{index_type(start)...}});
  }
  template <class... J>
    requires(sizeof...(J) == Extents::rank())
  __ASSAY_MEMBER auto slice(J... start) const {
    return __slice<dextents<index_type, Extents::rank()>>({{index_type(start)...}});
  }

  __ASSAY_MEMBER void __begin(T* data, const Extents& given) {
    this->__view.base = data;
    this->__view.offset = 0;
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) this->__view.extents[d] = int(given.extent(d));
  }
  template <class J>
  __ASSAY_MEMBER T& __at(const array<J, Extents::rank()>& at) const {
    auto view = this->__seen();
    long place = view.offset;
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) {
      __assay_expect_inside(int(at.__elems_[d]), view.extents[d]);
      place += long(at.__elems_[d]) * view.strides[d];
    }
    return view.base[place];
  }
  template <class S>
  __ASSAY_MEMBER auto __slice(const array<index_type, Extents::rank()>& start) const {
    __sliced<S> made;
    auto view = this->__seen();
    made.__view.base = view.base;
    made.__view.offset = view.offset;
#pragma unroll
    for (size_t d = 0; d < get_rank(); ++d) {
      int first = int(start.__elems_[d]);
      bool is_static = S::static_extent(d) != dynamic_extent;
      made.__view.offset += long(first) * view.strides[d];
      made.__view.extents[d] = is_static ? int(S::static_extent(d)) : view.extents[d] - first;
      made.__view.strides[d] = view.strides[d];
    }
    return made;
  }
  template <class S, bool IsHandle> struct __sliced_of { using type = tensor<T, S, Descriptor>; };
  template <class S> struct __sliced_of<S, true> { using type = tensor<T, S, Descriptor, tensor_offset>; };
  template <class S>
  using __sliced = typename __sliced_of<S, __is_same(Descriptor, tensor_handle)>::type;
};
template <class T, class E> tensor(T*, E) -> tensor<T, E, tensor_inline>;
template <class T, class E, class J, size_t N>
tensor(T*, E, array<J, N>) -> tensor<T, E, tensor_inline>;

template <class T> struct is_tensor : false_type {};
template <class T, class E, class D, class... G> struct is_tensor<tensor<T, E, D, G...>> : true_type {};
template <class T> struct is_tensor_handle : false_type {};
template <class T, class E, class... G>
struct is_tensor_handle<tensor<T, E, tensor_handle, G...>> : true_type {};
template <class T> struct is_tensor_inline : false_type {};
template <class T, class E, class... G>
struct is_tensor_inline<tensor<T, E, tensor_inline, G...>> : true_type {};
template <class T> struct has_tensor_offset : false_type {};
template <class T, class E, class D>
struct has_tensor_offset<tensor<T, E, D, tensor_offset>> : true_type {};
template <class T> constexpr bool is_tensor_v = is_tensor<T>::value;
template <class T> constexpr bool is_tensor_handle_v = is_tensor_handle<T>::value;
template <class T> constexpr bool is_tensor_inline_v = is_tensor_inline<T>::value;
template <class T> constexpr bool has_tensor_offset_v = has_tensor_offset<T>::value;
}  // namespace metal
