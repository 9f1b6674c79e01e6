"""From a Harvest to Findings: the entries whose whole condition holds, and where."""
