"""Messages to what they mean in ACP. Pure; the only room that knows v1 from v2.

``decoder`` gives the events of a message, ``index`` what the log's table says of it:
the ids that it mentions, and what is odd about it in its place in the conversation.
"""
