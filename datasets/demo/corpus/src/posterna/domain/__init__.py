"""Business rules of the locker network: no I/O, no framework, no clock of their own."""
