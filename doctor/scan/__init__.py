"""Bytes to Harvest: look for fixed text at C speed, read a line only where some was found."""
