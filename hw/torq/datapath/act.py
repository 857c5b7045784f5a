"""Codes of the activation unit's registers."""

ABS, NEGATE, LEADING_ZEROS, CEIL, FLOOR, CONVERT, SHIFT_LEFT, SHIFT_LOGIC, SHIFT_ARITHMETIC = range(
    1, 10
)
"""DE_ACT.act_mode."""
NEAREST, DOUBLE, NEAREST_EVEN, TRUNCATE = range(4)
"""DE_ACT.rnd_type."""
NARROW = 1
"""DE_ACT.func_size of 16-bit sums: of floats, bfloat16."""
