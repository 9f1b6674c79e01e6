"""From logs of many ranks to their pace: who is slow, since when, what comes again and again, and what differs from another run."""
