"""Which memory accesses are about, and what two of them leave there."""
