"""Code and memory of this host: C and LLVM compiled and loaded, and what is kept on disk."""
