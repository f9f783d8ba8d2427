"""The journal: one append-only spool file per connection, between the proxy and the recorder.

No SQL and no JSON here, and no idea of what the bytes mean. The proxy appends a
chunk before it forwards it; the recorder reads records from any record's
beginning. Files are 0600, folders 0700. Layout of the file: ``records``.
"""
