"""Where the time of models goes that run through IREE: which dispatches, and how they use lanes."""
