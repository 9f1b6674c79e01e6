"""From an error to the script that shows it: what the logs tell of an operator, a template, and one file that runs."""
