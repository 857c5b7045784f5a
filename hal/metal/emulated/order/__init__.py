"""The order of host, queues, encoders and fences: what may use memory at the same time."""
