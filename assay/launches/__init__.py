"""What to run a kernel with: grids, inputs, and assumptions for all that nobody gave."""
