"""The job as a screen: every rank on one line of time."""
