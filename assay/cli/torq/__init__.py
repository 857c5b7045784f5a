"""The commands' sides that deal with executables and command lists of the NPU."""
