"""From a Diagnosis to the answer: advice, what is missing, pseudonyms, and the report as JSON."""
