"""What devices share whose memory is the host's own: buffers, semaphores, transfers, a queue."""
