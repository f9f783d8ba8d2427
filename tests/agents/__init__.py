"""Small hostile agents, run by path as processes of their own; standard library only."""
