"""Copying bytes between processes, blind to what they say.

Theory of operation: each direction is one thread that does read(2), hands the
chunk to ``record``, then write(2). Blocking descriptors stay as they are; poll(2)
tells a thread that the far side has gone while the near side is silent. Nothing
here knows journals, messages or logs.
"""
