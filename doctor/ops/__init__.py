"""Which operators a run compiled, how often, and which it compiled again: from CANN's INFO lines or a profiler's table."""
