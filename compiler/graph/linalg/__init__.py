"""linalg, tensor, arith and math: what they say, and what they compute in NumPy."""
