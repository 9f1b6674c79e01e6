"""The knowledge as a screen: tree, list, search, cards."""
