"""The NPU's programs: abstract commands, their words, and words as text."""
