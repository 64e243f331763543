"""Evaluation of policies on datasets, over the same service call and the same Trace that answer a person."""
