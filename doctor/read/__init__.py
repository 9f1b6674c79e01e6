"""From paths, archives, pipes and growing files to Sources: named streams of bytes, within bounds."""
