"""Results of precision comparisons (ptdbg_ascend, msprobe): the first API that deviates, and what to do with it."""
