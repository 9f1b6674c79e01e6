"""Whole jobs made up from a seed: logs of every rank, and the truth about where it went wrong."""
