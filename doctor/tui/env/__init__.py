"""The machine as a screen: a light for each group of checks, the fix beside it."""
