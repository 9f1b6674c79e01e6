"""Many nodes: what runs on each of them, how it is asked for, what came of it, and one harvest of all."""
