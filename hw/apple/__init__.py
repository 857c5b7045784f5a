"""Apple GPUs: limits and layouts that programs can see."""
