"""The relay seen from outside: what a client and an agent notice, and what was recorded."""
