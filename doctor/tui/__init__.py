"""The terminal interface. The only room that imports textual; what it shows comes from the same core as the command line."""
