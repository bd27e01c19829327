"""Weights on this machine: any causal language model that transformers loads, as a writer, a reader of choice codes or a decision head."""
