"""What a program calls, in IREE's words: devices, buffers, command buffers, semaphores."""
