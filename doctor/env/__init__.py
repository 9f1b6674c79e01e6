"""Is this machine fit, and where do two machines differ: facts of a machine, checks of them, differences."""
