"""What every screen of the interface stands on: the application, keys, bars, lists and cards."""
