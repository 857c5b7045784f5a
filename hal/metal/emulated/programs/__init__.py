"""Libraries, functions, pipeline states, and how they take their arguments."""
