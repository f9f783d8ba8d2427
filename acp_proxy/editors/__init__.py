"""How each editor is told to start an agent, and its settings changed without a trace elsewhere.

``known`` is the table of editors; ``jsonc``, ``edits``, ``quoting``, ``entries`` and ``wrapping``
are pure; ``places`` and ``files`` look at this machine. Nothing here prints.
"""
