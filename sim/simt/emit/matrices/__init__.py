"""Products of matrices: where their factors and sums lie."""
