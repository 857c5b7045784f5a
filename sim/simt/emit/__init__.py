"""From the engines' IR to code for 32 lanes at once."""
