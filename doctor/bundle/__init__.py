"""A small archive of the evidence, for somebody else: cut-outs of the logs that scan to the same diagnosis."""
