"""From a report to what a person or a program reads. Every renderer takes the report alone; which there are: `doctor/commands/reporting.py`."""
