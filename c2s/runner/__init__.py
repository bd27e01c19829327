"""From a plan to a full ledger: what to ask, in which order, and what to do with what comes back."""
