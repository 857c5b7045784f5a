"""The modules that programs import: `hal`, `io_parameters`, `check`."""
