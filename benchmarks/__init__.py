"""Measurements that stay: every figure in README and in closing notes comes from a command here."""
