"""The speed of acp-proxy, measured: programs to run by hand, and no test of the suite.

Nothing here asserts; ``python -m tests.bench`` prints a table and ends with 0.
"""
