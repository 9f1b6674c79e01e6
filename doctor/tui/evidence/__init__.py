"""The log as a screen: at the line a finding rests on."""
