"""Who holds a device's memory: from memory snapshots, out-of-memory messages and what CANN's components say they hold."""
