"""What the knowledge has about a word, a code or a text, without any diagnosis."""
