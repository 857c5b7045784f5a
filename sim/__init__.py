"""Engines that know no particular machine."""
