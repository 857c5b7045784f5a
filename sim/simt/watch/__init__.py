"""What a watched kernel does beside its own work: instrumentation of the IR."""
