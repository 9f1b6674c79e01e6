"""Templates of reproduction scripts, each a whole program: `python -m kb.repro.single_op --device cpu` runs one.

The builder replaces the values between the slot markers and copies in what the template uses of `_frame`, so that the
result is one file that needs torch alone.
"""
