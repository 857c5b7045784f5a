"""Machine code for the board's own processor: its file, the processor, and what calls it."""
