// cooperative_tensor<T, Extents, Layout>: elements of one tensor, each with the thread that has it.
//
// A layout says how many elements a thread has (`capacity`), where one is in the tensor (`coordinate`)
// and whether it is in it at all (`is_valid`).
#pragma once
#include "tensor.h"

namespace metal {
template <size_t N>
struct execution_threads {
  static_assert(N == 1, "execution_threads: one thread is the only size");
  static constexpr size_t static_size = N;
  __ASSAY_MEMBER constexpr uint size() const { return N; }
};
template <size_t N>
struct execution_simdgroups {
  static_assert(N != 0, "execution_simdgroups: there is at least one");
  static constexpr size_t static_size = N;
  __ASSAY_MEMBER constexpr uint size() const { return N; }
};
using execution_thread = execution_threads<1>;
using execution_simdgroup = execution_simdgroups<1>;
// How many threads take part.
template <class Scope> constexpr int __threads_of = 0;
template <size_t N> constexpr int __threads_of<execution_threads<N>> = int(N);
template <size_t N> constexpr int __threads_of<execution_simdgroups<N>> = int(N) * __tensor::simdgroup;

template <class Tensor>
struct __cooperative_iterator {
  Tensor* _ct;
  ushort _idx;
  __ASSAY_MEMBER auto& operator*() const { return (*_ct)[_idx]; }
  __ASSAY_MEMBER auto* operator->() const { return &(*_ct)[_idx]; }
  __ASSAY_MEMBER __cooperative_iterator& operator++() { ++_idx; return *this; }
  __ASSAY_MEMBER __cooperative_iterator& operator--() { --_idx; return *this; }
  __ASSAY_MEMBER __cooperative_iterator operator++(int) { return {_ct, _idx++}; }
  __ASSAY_MEMBER __cooperative_iterator operator--(int) { return {_ct, _idx--}; }
  __ASSAY_MEMBER __cooperative_iterator& operator+=(int n) { _idx += n; return *this; }
  __ASSAY_MEMBER __cooperative_iterator& operator-=(int n) { _idx -= n; return *this; }
  __ASSAY_MEMBER __cooperative_iterator operator+(int n) const { return {_ct, ushort(_idx + n)}; }
  __ASSAY_MEMBER __cooperative_iterator operator-(int n) const { return {_ct, ushort(_idx - n)}; }
  __ASSAY_MEMBER int operator-(const __cooperative_iterator& o) const { return _idx - o._idx; }
  __ASSAY_MEMBER bool operator==(const __cooperative_iterator& o) const { return _idx == o._idx; }
  __ASSAY_MEMBER bool operator!=(const __cooperative_iterator& o) const { return _idx != o._idx; }
  __ASSAY_MEMBER bool operator<(const __cooperative_iterator& o) const { return _idx < o._idx; }
  __ASSAY_MEMBER bool is_valid_element() const { return _ct->is_valid_element(_idx); }
  __ASSAY_MEMBER auto get_multidimensional_index() const {
    return _ct->get_multidimensional_index(_idx);
  }
};

template <class T, class Extents, class Layout>
struct cooperative_tensor {
  using element_type = T;
  using value_type = T;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using thread_index_type = ushort;
  using layout = Layout;
  using iterator = __cooperative_iterator<cooperative_tensor>;
  using const_iterator = __cooperative_iterator<const cooperative_tensor>;
  using index_array = array<index_type, Extents::rank()>;
  T __elements[Layout::capacity];

  __ASSAY_MEMBER static constexpr ushort get_capacity() { return Layout::capacity; }
  __ASSAY_MEMBER static constexpr ushort capacity() { return Layout::capacity; }
  __ASSAY_MEMBER static constexpr size_t get_rank() { return Extents::rank(); }
  __ASSAY_MEMBER static constexpr size_t rank() { return Extents::rank(); }
  __ASSAY_MEMBER static constexpr size_t static_extent(size_t d) { return Extents::static_extent(d); }
  __ASSAY_MEMBER static constexpr index_type extent(size_t d) { return Extents().extent(d); }
  __ASSAY_MEMBER static constexpr index_type get_extent(size_t d) { return extent(d); }

  __ASSAY_MEMBER T& operator[](ushort at) { return __elements[at]; }
  __ASSAY_MEMBER const T& operator[](ushort at) const { return __elements[at]; }
  __ASSAY_MEMBER T get(ushort at) const { return is_valid_element(at) ? __elements[at] : T(0); }
  __ASSAY_MEMBER void set(ushort at, T value) {
    if (is_valid_element(at)) __elements[at] = value;
  }
  __ASSAY_MEMBER bool is_valid_element(ushort at) const { return Layout::is_valid(at); }
  __ASSAY_MEMBER bool is_valid_element(const_iterator it) const { return is_valid_element(it._idx); }
  __ASSAY_MEMBER bool is_valid_element(iterator it) const { return is_valid_element(it._idx); }
  __ASSAY_MEMBER bool is_valid_element(const T* place) const {
    return is_valid_element(ushort(place - __elements));
  }
  __ASSAY_MEMBER index_array get_multidimensional_index(ushort at) const {
    int found[Extents::rank()];
    Layout::coordinate(at, found);
    index_array result;
#pragma unroll
    for (size_t d = 0; d < Extents::rank(); ++d) result.__elems_[d] = index_type(found[d]);
    return result;
  }
  __ASSAY_MEMBER index_array get_multidimensional_index(const_iterator it) const {
    return get_multidimensional_index(it._idx);
  }
  __ASSAY_MEMBER index_array get_multidimensional_index(iterator it) const {
    return get_multidimensional_index(it._idx);
  }
  __ASSAY_MEMBER index_array get_multidimensional_index(const T* place) const {
    return get_multidimensional_index(ushort(place - __elements));
  }

  __ASSAY_MEMBER iterator begin() { return {this, 0}; }
  __ASSAY_MEMBER iterator end() { return {this, Layout::capacity}; }
  __ASSAY_MEMBER const_iterator begin() const { return {this, 0}; }
  __ASSAY_MEMBER const_iterator end() const { return {this, Layout::capacity}; }
  __ASSAY_MEMBER const_iterator cbegin() const { return begin(); }
  __ASSAY_MEMBER const_iterator cend() const { return end(); }
  __ASSAY_MEMBER iterator get_iterator(ushort at) { return {this, at}; }
  __ASSAY_MEMBER const_iterator get_iterator(ushort at) const { return {this, at}; }
  // The element here that belongs to one of another tensor: its own, or that of its row or column.
  template <class Other>
    requires requires { Layout::template mapped<typename Other::layout>(0); }
  __ASSAY_MEMBER iterator map_iterator(__cooperative_iterator<Other> it) {
    return {this, ushort(Layout::template mapped<typename Other::layout>(it._idx))};
  }
  template <class Other>
    requires requires { Layout::template mapped<typename Other::layout>(0); }
  __ASSAY_MEMBER const_iterator map_iterator(__cooperative_iterator<Other> it) const {
    return {this, ushort(Layout::template mapped<typename Other::layout>(it._idx))};
  }

  // From and to a tensor in memory. Elements outside of it are 0, and are not written.
  template <class U, class E, class D, class... G>
  __ASSAY_MEMBER void load(const tensor<U, E, D, G...>& from) {
    static_assert(E::rank() == Extents::rank(), "cooperative_tensor: the ranks differ");
    auto view = from.__seen();
#pragma unroll
    for (int e = 0; e < Layout::capacity; ++e) {
      int at[Extents::rank()];
      Layout::coordinate(e, at);
      long place;
      T value = T(0);
      if (Layout::is_valid(e) && __tensor::find<Extents::rank()>(&view, at, &place)) {
        value = __convert<T>(__bare_t<U>(view.base[place]));
      }
      __elements[e] = value;
    }
  }
  template <class U, class E, class D, class... G>
  __ASSAY_MEMBER void store(const tensor<U, E, D, G...>& to) const {
    static_assert(E::rank() == Extents::rank(), "cooperative_tensor: the ranks differ");
    auto view = to.__seen();
#pragma unroll
    for (int e = 0; e < Layout::capacity; ++e) {
      int at[Extents::rank()];
      Layout::coordinate(e, at);
      long place;
      if (Layout::is_valid(e) && __tensor::find<Extents::rank()>(&view, at, &place)) {
        view.base[place] = __convert<__bare_t<U>>(__elements[e]);
      }
    }
  }
};
template <class T> struct is_cooperative_tensor : false_type {};
template <class T, class E, class L>
struct is_cooperative_tensor<cooperative_tensor<T, E, L>> : true_type {};
template <class T> constexpr bool is_cooperative_tensor_v = is_cooperative_tensor<T>::value;
}  // namespace metal
