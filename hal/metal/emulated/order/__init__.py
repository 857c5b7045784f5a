"""The order of host, queues, encoders and fences: who may touch memory while somebody else does."""
