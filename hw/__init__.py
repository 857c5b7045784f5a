"""Machines: their facts as data with units and sources."""
