"""What is assumed of launches: conditions on numbers, what buffers hold, and how it is written."""
