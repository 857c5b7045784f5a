"""How long Assay modules take on a board: a CPU, a GPU and an NPU with one clock and one DRAM."""
