"""A trace on the screen: one HTML page of our own, or Perfetto's UI."""
