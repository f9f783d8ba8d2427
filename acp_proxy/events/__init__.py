"""Messages to what they mean in ACP. Pure; the only room that knows v1 from v2.

So far only what the log's index needs: the ids that a message mentions, and what
is odd about it in its place in the conversation.
"""
