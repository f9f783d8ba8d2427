"""Shipping agents through the proxy: a harness outside the ordinary suite (see README.md)."""
