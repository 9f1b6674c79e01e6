"""What every room may use: errors and exit codes, bounds, languages and how things are written. Knows nothing above it."""
