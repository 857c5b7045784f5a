"""Writing IREE modules: bytecode, archives, and host programs for executables."""
