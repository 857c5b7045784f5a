"""From MSL to C++ that clang compiles, and what is refused on the way."""
