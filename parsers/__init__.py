"""Text to records: what the lines of NPU logs are, one format a file. Knows nothing of faults."""
