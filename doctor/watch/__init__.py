"""Following logs while a job runs: growing and rotating files, new files, a pipe. No terminal here."""
