"""Conversations between independent ACP peers, straight and through the proxy."""
