"""The knowledge: YAML entries, code tables, variables and cards, their typed model, loader, linter and compiled form."""
