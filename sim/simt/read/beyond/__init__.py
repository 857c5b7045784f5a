"""Keeps accesses beyond a thread's own variables and beyond tables of constants.

LLVM deletes what reads or writes outside of an object that it knows: once loops are unrolled, an
array that is read one element too far would turn its kernel into nothing. Each access that is not
known to stay inside gets an annotation beside it, which says where it goes, costs nothing and is
never removed. Where that turns out to be outside, lowering makes it an access again, which the
engines find. What is read there is some value, so that nothing else is deleted for it.
"""
