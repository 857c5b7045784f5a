"""How programs for the Torq NPU come to be."""
