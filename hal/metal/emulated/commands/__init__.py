"""Queues, command buffers and encoders, and what they run."""
