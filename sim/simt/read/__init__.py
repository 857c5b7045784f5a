"""From LLVM's IR to the engines' IR."""
