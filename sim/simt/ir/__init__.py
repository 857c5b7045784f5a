"""What the engines execute: instructions, blocks, functions, and what is known of their shape."""
