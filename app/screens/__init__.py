"""One script a screen: read, build, call, turn, show."""
