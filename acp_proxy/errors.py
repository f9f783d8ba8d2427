"""The few exceptions of this program, under one parent.

Everything else that can go wrong is a builtin exception or, where a peer is to
blame, a value: parsers return, they never raise on what was sent.
"""


class AcpProxyError(Exception):
    """Something a person can act on; its text says what, where and what to do next."""


class LogError(AcpProxyError):
    """The log file cannot be used: missing, damaged, unwritable, or from a newer acp-proxy.

    Attributes:
        why: What is wrong, and where.
        remedy: What to do next; may be empty.

    """

    def __init__(self, why: str, remedy: str = "") -> None:
        super().__init__(f"{why}; {remedy}" if remedy else why)
        self.why = why
        self.remedy = remedy


class AgentError(AcpProxyError):
    """The agent's command cannot be started.

    Attributes:
        exit_code: What a shell would exit with: 127 not found, 126 not executable.

    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class QueryError(AcpProxyError):
    """A person asked for something that the log does not have."""


class EditorError(AcpProxyError):
    """An editor's settings cannot be read or changed; they are as they were."""
