"""From TOSA to TorqHL, operator by operator."""
