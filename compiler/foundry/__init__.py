"""Metal kernels composed in Python: parameter structs, formats of weights, conditions."""
