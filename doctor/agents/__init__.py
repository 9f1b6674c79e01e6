"""What assistants work with: a server of the Model Context Protocol, and a skill."""
