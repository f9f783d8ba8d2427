"""Rows to text for people and for programs. Pure: nothing here prints, asks or knows the time.

No character that a peer sent reaches a reader's terminal unescaped: ``safe_text``.
"""
