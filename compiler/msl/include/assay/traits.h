// Type traits of MSL (a part of C++'s), for scalars and vectors.
#pragma once
#include "base.h"

namespace metal {
template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  __ASSAY_MEMBER constexpr operator T() const { return V; }
  __ASSAY_MEMBER constexpr T operator()() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool C, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool C, class T = void> using enable_if_t = typename enable_if<C, T>::type;

template <bool C, class A, class B> struct conditional { using type = A; };
template <class A, class B> struct conditional<false, A, B> { using type = B; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;

template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = __remove_cv(T); };
template <class T> struct remove_reference { using type = __remove_reference_t(T); };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = __remove_cv(T);
template <class T> using remove_reference_t = __remove_reference_t(T);

// A value type without qualifiers: what is left of `device const float&` is float.
template <class T> struct __bare { using type = __remove_cv(__remove_reference_t(T)); };
template <class T> struct __bare<__ASSAY_DEVICE T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<__ASSAY_CONSTANT T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<__ASSAY_THREADGROUP T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<const __ASSAY_DEVICE T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<const __ASSAY_CONSTANT T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<const __ASSAY_THREADGROUP T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<volatile __ASSAY_DEVICE T> { using type = typename __bare<T>::type; };
template <class T> struct __bare<volatile __ASSAY_THREADGROUP T> { using type = typename __bare<T>::type; };
template <class T> using __bare_t = typename __bare<__remove_reference_t(T)>::type;

// Pointer to U in the address space of the pointer P.
template <class P, class U> struct __in_space { using type = U*; };
template <class T, class U> struct __in_space<__ASSAY_DEVICE T*, U> { using type = __ASSAY_DEVICE U*; };
template <class T, class U> struct __in_space<__ASSAY_CONSTANT T*, U> { using type = __ASSAY_CONSTANT U*; };
template <class T, class U> struct __in_space<__ASSAY_THREADGROUP T*, U> { using type = __ASSAY_THREADGROUP U*; };

template <class T> struct remove_addrspace { using type = T; };
template <class T> struct remove_addrspace<__ASSAY_DEVICE T> { using type = T; };
template <class T> struct remove_addrspace<__ASSAY_CONSTANT T> { using type = T; };
template <class T> struct remove_addrspace<__ASSAY_THREADGROUP T> { using type = T; };
template <class T> using remove_addrspace_t = typename remove_addrspace<T>::type;

template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> struct remove_pointer<T* const> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct remove_extent { using type = __remove_extent(T); };
template <class T> using remove_extent_t = __remove_extent(T);
template <class T> struct add_const { using type = const T; };
template <class T> using add_const_t = const T;
template <class T> struct decay { using type = __decay(T); };
template <class T> using decay_t = __decay(T);
template <class... T> struct common_type {};
template <class T> struct common_type<T> { using type = __decay(T); };
template <class A, class B, class... T>
struct common_type<A, B, T...> : common_type<__decay(decltype(true ? *(A*)nullptr : *(B*)nullptr)), T...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;

template <class T> struct make_signed { using type = __make_signed(T); };
template <class T> struct make_unsigned { using type = __make_unsigned(T); };
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class T> using underlying_type_t = typename underlying_type<T>::type;

template <class T> struct is_void : bool_constant<__is_void(T)> {};
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> struct is_floating_point : bool_constant<__is_floating_point(T)> {};
template <class T> struct is_arithmetic : bool_constant<__is_arithmetic(T)> {};
// Vectors answer as their elements do.
template <class T, int N> struct vec;
#define __ASSAY_OF_VECTORS(trait) template <class T, int N> struct trait<vec<T, N>> : trait<T> {};
template <class T> struct is_scalar : bool_constant<__is_scalar(T)> {};
template <class T> struct is_signed : bool_constant<__is_signed(T)> {};
template <class T> struct is_unsigned : bool_constant<__is_unsigned(T)> {};
__ASSAY_OF_VECTORS(is_integral)
__ASSAY_OF_VECTORS(is_floating_point)
__ASSAY_OF_VECTORS(is_arithmetic)
__ASSAY_OF_VECTORS(is_signed)
__ASSAY_OF_VECTORS(is_unsigned)
#undef __ASSAY_OF_VECTORS
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_union : bool_constant<__is_union(T)> {};
template <class T> struct is_pointer : bool_constant<__is_pointer(T)> {};
template <class T> struct is_reference : bool_constant<__is_reference(T)> {};
template <class T> struct is_array : bool_constant<__is_array(T)> {};
template <class T> struct is_const : bool_constant<__is_const(T)> {};
template <class T> struct is_volatile : bool_constant<__is_volatile(T)> {};
template <class T> struct is_function : bool_constant<__is_function(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> struct is_lvalue_reference : bool_constant<__is_lvalue_reference(T)> {};
template <class T> struct is_rvalue_reference : bool_constant<__is_rvalue_reference(T)> {};
template <class T> struct is_fundamental : bool_constant<__is_fundamental(T)> {};
template <class T> struct is_compound : bool_constant<__is_compound(T)> {};
template <class T> struct is_object : bool_constant<__is_object(T)> {};
template <class T> struct is_trivial : bool_constant<__is_trivial(T)> {};
template <class T> struct is_standard_layout : bool_constant<__is_standard_layout(T)> {};
template <class T> struct is_pod : bool_constant<__is_pod(T)> {};
template <class A, class B> struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <class A, class B> struct is_convertible : bool_constant<__is_convertible(A, B)> {};
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};

template <class T> constexpr bool is_void_v = __is_void(T);
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> constexpr bool is_scalar_v = __is_scalar(T);
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> constexpr bool is_enum_v = __is_enum(T);
template <class T> constexpr bool is_class_v = __is_class(T);
template <class T> constexpr bool is_pointer_v = __is_pointer(T);
template <class T> constexpr bool is_reference_v = __is_reference(T);
template <class T> constexpr bool is_array_v = __is_array(T);
template <class T> constexpr bool is_const_v = __is_const(T);
template <class T> constexpr bool is_volatile_v = __is_volatile(T);
template <class T> constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T> constexpr bool is_lvalue_reference_v = __is_lvalue_reference(T);
template <class T> constexpr bool is_rvalue_reference_v = __is_rvalue_reference(T);
template <class T> constexpr bool is_fundamental_v = __is_fundamental(T);
template <class T> constexpr bool is_compound_v = __is_compound(T);
template <class T> constexpr bool is_object_v = __is_object(T);
template <class T> constexpr bool is_trivial_v = __is_trivial(T);
template <class T> constexpr bool is_standard_layout_v = __is_standard_layout(T);
template <class T> constexpr bool is_pod_v = __is_pod(T);
template <class T> constexpr bool is_union_v = __is_union(T);
template <class T> constexpr bool is_function_v = __is_function(T);
template <class A, class B> constexpr bool is_base_of_v = __is_base_of(A, B);
template <class A, class B> constexpr bool is_convertible_v = __is_convertible(A, B);
template <class T, class... A> constexpr bool is_constructible_v = __is_constructible(T, A...);

template <class...> struct _disjunction : false_type {};
template <class A> struct _disjunction<A> : A {};
template <class A, class... B> struct _disjunction<A, B...> : conditional_t<bool(A::value), A, _disjunction<B...>> {};
template <class...> struct _conjunction : true_type {};
template <class A> struct _conjunction<A> : A {};
template <class A, class... B> struct _conjunction<A, B...> : conditional_t<bool(A::value), _conjunction<B...>, A> {};
template <class... A> struct disjunction : _disjunction<A...> {};
template <class... A> struct conjunction : _conjunction<A...> {};
template <class A> struct negation : bool_constant<!bool(A::value)> {};
template <class... A> constexpr bool disjunction_v = disjunction<A...>::value;
template <class... A> constexpr bool conjunction_v = conjunction<A...>::value;
template <class A> constexpr bool negation_v = !bool(A::value);

template <class T> T&& declval() noexcept;

// A value that is the same in all threads; it is a plain value here.
template <class T> using uniform = T;
template <class T> __ASSAY_FN constexpr T make_uniform(T value) { return value; }

template <class T>
__ASSAY_FN constexpr __remove_reference_t(T) && move(T&& value) {
  return static_cast<__remove_reference_t(T)&&>(value);
}
}  // namespace metal
