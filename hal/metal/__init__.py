"""The Metal HAL driver, and the emulated Metal API it can drive."""
