"""The log: one SQLite file for many connections. The only room that speaks SQL.

``schema`` opens and migrates, ``rows`` are what comes out, ``writer`` puts in,
``reader`` asks. What the columns mean is in docs/log.md.
"""
