"""What a job that does not move says about itself: dumps, stacks and silence to one verdict. Nothing is read here."""
