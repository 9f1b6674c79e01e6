"""From Findings, and the job when there is one, to a Diagnosis: what explains what, and what nobody explains."""
