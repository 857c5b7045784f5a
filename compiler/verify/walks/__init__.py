"""How a thread goes through a kernel: iterations of loops, blocks that it comes to or does not."""
