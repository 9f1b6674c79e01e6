"""The pace of a run as a screen: what is said of it, and a row of bars for each rank."""
