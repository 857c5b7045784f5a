"""The Metal Shading Language: source in, LLVM bitcode and reflection out."""
