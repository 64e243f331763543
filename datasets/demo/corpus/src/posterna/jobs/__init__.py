"""Scheduled tasks. Each module holds one task and can be run twice at the same moment without harm."""
