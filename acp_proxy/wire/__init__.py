"""Bytes to frames to messages, without I/O: framing, JSON-RPC, pairing.

Nothing here knows ACP's methods, SQL, clocks or processes.
"""
