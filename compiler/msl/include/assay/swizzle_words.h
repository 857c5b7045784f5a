// The swizzles of __ASSAY_LETTERS letters (2, 3 or 4) that those of one letter less do not have:
// all words of two to four letters with the newest letter in them. Included in classes.
#if __ASSAY_LETTERS == 2
#define __ASSAY_END2(a) __ASSAY_GET2(a, x) __ASSAY_GET2(a, y)
#define __ASSAY_END3(a, b) __ASSAY_GET3(a, b, x) __ASSAY_GET3(a, b, y)
#define __ASSAY_END4(a, b, c) __ASSAY_GET4(a, b, c, x) __ASSAY_GET4(a, b, c, y)
#define __ASSAY_TWO3(a) __ASSAY_END3(a, x) __ASSAY_END3(a, y)
#define __ASSAY_TWO4(a, b) __ASSAY_END4(a, b, x) __ASSAY_END4(a, b, y)
#define __ASSAY_THREE4(a) __ASSAY_TWO4(a, x) __ASSAY_TWO4(a, y)
__ASSAY_END2(x) __ASSAY_END2(y)
__ASSAY_TWO3(x) __ASSAY_TWO3(y)
__ASSAY_THREE4(x) __ASSAY_THREE4(y)
#elif __ASSAY_LETTERS == 3
#define __ASSAY_END2(a) __ASSAY_GET2(a, x) __ASSAY_GET2(a, y) __ASSAY_GET2(a, z)
#define __ASSAY_END3(a, b) __ASSAY_GET3(a, b, x) __ASSAY_GET3(a, b, y) __ASSAY_GET3(a, b, z)
#define __ASSAY_END4(a, b, c)                                                                     \
  __ASSAY_GET4(a, b, c, x) __ASSAY_GET4(a, b, c, y) __ASSAY_GET4(a, b, c, z)
#define __ASSAY_TWO3(a) __ASSAY_END3(a, x) __ASSAY_END3(a, y) __ASSAY_END3(a, z)
#define __ASSAY_TWO4(a, b) __ASSAY_END4(a, b, x) __ASSAY_END4(a, b, y) __ASSAY_END4(a, b, z)
#define __ASSAY_THREE4(a) __ASSAY_TWO4(a, x) __ASSAY_TWO4(a, y) __ASSAY_TWO4(a, z)
// Behind older letters, with the newest somewhere.
#define __ASSAY_NEW3(a) __ASSAY_GET3(a, x, z) __ASSAY_GET3(a, y, z) __ASSAY_END3(a, z)
#define __ASSAY_NEW4(a, b) __ASSAY_GET4(a, b, x, z) __ASSAY_GET4(a, b, y, z) __ASSAY_END4(a, b, z)
#define __ASSAY_OLD4(a) __ASSAY_NEW4(a, x) __ASSAY_NEW4(a, y) __ASSAY_TWO4(a, z)
__ASSAY_GET2(x, z) __ASSAY_GET2(y, z) __ASSAY_END2(z)
__ASSAY_NEW3(x) __ASSAY_NEW3(y) __ASSAY_TWO3(z)
__ASSAY_OLD4(x) __ASSAY_OLD4(y) __ASSAY_THREE4(z)
#else
#define __ASSAY_END2(a) __ASSAY_GET2(a, x) __ASSAY_GET2(a, y) __ASSAY_GET2(a, z) __ASSAY_GET2(a, w)
#define __ASSAY_END3(a, b)                                                                        \
  __ASSAY_GET3(a, b, x) __ASSAY_GET3(a, b, y) __ASSAY_GET3(a, b, z) __ASSAY_GET3(a, b, w)
#define __ASSAY_END4(a, b, c)                                                                     \
  __ASSAY_GET4(a, b, c, x) __ASSAY_GET4(a, b, c, y) __ASSAY_GET4(a, b, c, z) __ASSAY_GET4(a, b, c, w)
#define __ASSAY_TWO3(a)                                                                           \
  __ASSAY_END3(a, x) __ASSAY_END3(a, y) __ASSAY_END3(a, z) __ASSAY_END3(a, w)
#define __ASSAY_TWO4(a, b)                                                                        \
  __ASSAY_END4(a, b, x) __ASSAY_END4(a, b, y) __ASSAY_END4(a, b, z) __ASSAY_END4(a, b, w)
#define __ASSAY_THREE4(a)                                                                         \
  __ASSAY_TWO4(a, x) __ASSAY_TWO4(a, y) __ASSAY_TWO4(a, z) __ASSAY_TWO4(a, w)
#define __ASSAY_NEW3(a)                                                                           \
  __ASSAY_GET3(a, x, w) __ASSAY_GET3(a, y, w) __ASSAY_GET3(a, z, w) __ASSAY_END3(a, w)
#define __ASSAY_NEW4(a, b)                                                                        \
  __ASSAY_GET4(a, b, x, w) __ASSAY_GET4(a, b, y, w) __ASSAY_GET4(a, b, z, w) __ASSAY_END4(a, b, w)
#define __ASSAY_OLD4(a)                                                                           \
  __ASSAY_NEW4(a, x) __ASSAY_NEW4(a, y) __ASSAY_NEW4(a, z) __ASSAY_TWO4(a, w)
__ASSAY_GET2(x, w) __ASSAY_GET2(y, w) __ASSAY_GET2(z, w) __ASSAY_END2(w)
__ASSAY_NEW3(x) __ASSAY_NEW3(y) __ASSAY_NEW3(z) __ASSAY_TWO3(w)
__ASSAY_OLD4(x) __ASSAY_OLD4(y) __ASSAY_OLD4(z) __ASSAY_THREE4(w)
#endif

#undef __ASSAY_OLD4
#undef __ASSAY_NEW4
#undef __ASSAY_NEW3
#undef __ASSAY_THREE4
#undef __ASSAY_TWO4
#undef __ASSAY_TWO3
#undef __ASSAY_END4
#undef __ASSAY_END3
#undef __ASSAY_END2
#undef __ASSAY_LETTERS
