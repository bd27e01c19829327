"""What requests cost: price tables, reservations and caps."""
