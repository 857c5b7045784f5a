"""From TorqHL to programs: tiles, loads and stores, slices, places in LRAM, commands."""
