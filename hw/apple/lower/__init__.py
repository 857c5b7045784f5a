"""From the engine's IR to the instructions that an Apple GPU would execute."""
