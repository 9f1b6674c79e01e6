"""Incidents written, packed, cut and surrounded in other ways: what is diagnosed must not depend on it."""
