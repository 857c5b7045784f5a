"""Metal 4's way to encode: argument tables, and command buffers that are used again."""
