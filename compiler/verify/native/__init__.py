"""Terms of z3 by their plain handles: its own objects cost some ten times as much."""
