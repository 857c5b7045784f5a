"""`assay sweep` and `assay tune`: kernels of a declared space."""
