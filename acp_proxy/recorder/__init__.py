"""The recorder: what brings journals, imports and rebuilt indexes into the log.

``process`` is the recorder's process, ``ingest`` puts one journal into the log,
``leftovers`` finds journals that nobody works on, ``rewrite`` imports and
reindexes. Plain synchronous code; no traffic waits for it.
"""


def main() -> None:
    """Run the recorder's process: ``python -P -c ... JOURNAL [WAKE]``."""
    from acp_proxy import clock  # noqa: PLC0415 - siblings need not this

    clock.make_usable()
    from acp_proxy.recorder.process import main as run  # noqa: PLC0415 - see above

    run()
