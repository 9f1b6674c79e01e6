"""Pasting an error: the diagnosis follows as it is typed."""
