"""What the peers say, message by message: the expected content of the log."""

# from, kind, method (of an answer: what it answers), kind of update; in the order on the wire.
V1_MESSAGES = """
client request      initialize
agent  result       initialize
client request      session/new
agent  result       session/new
client request      session/prompt
agent  notification session/update             available_commands_update
agent  notification session/update             agent_thought_chunk
agent  notification session/update             plan
agent  notification session/update             agent_message_chunk
agent  notification session/update             agent_message_chunk
agent  notification session/update             agent_message_chunk
agent  notification session/update             tool_call
agent  request      fs/read_text_file
client result       fs/read_text_file
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call
agent  request      fs/read_text_file
client error        fs/read_text_file
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call
agent  request      session/request_permission
client result       session/request_permission
agent  request      fs/write_text_file
client result       fs/write_text_file
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call
agent  request      terminal/create
client result       terminal/create
agent  notification session/update             tool_call_update
agent  request      terminal/wait_for_exit
client result       terminal/wait_for_exit
agent  request      terminal/output
client result       terminal/output
agent  request      terminal/release
client result       terminal/release
agent  notification session/update             tool_call_update
agent  notification session/update             plan
agent  notification session/update             agent_message_chunk
agent  result       session/prompt
client notification _peers/note
client request      _peers/echo
agent  notification _peers/heard
agent  result       _peers/echo
client request      _peers/unknown
agent  error        _peers/unknown
client request      session/prompt
agent  notification session/update             agent_message_chunk
client notification session/cancel
agent  result       session/prompt
"""
V2_MESSAGES = """
client request      initialize
agent  result       initialize
client request      session/new
agent  result       session/new
client request      session/prompt
agent  notification session/update             user_message
agent  result       session/prompt
agent  notification session/update             state_update
agent  notification session/update             available_commands_update
agent  notification session/update             agent_thought_chunk
agent  notification session/update             plan_update
agent  notification session/update             agent_message_chunk
agent  notification session/update             agent_message_chunk
agent  notification session/update             agent_message_chunk
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call_content_chunk
agent  notification session/update             tool_call_content_chunk
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call_update
agent  notification session/update             state_update
agent  request      session/request_permission
client result       session/request_permission
agent  notification session/update             state_update
agent  notification session/update             terminal_update
agent  notification session/update             tool_call_update
agent  notification session/update             terminal_output_chunk
agent  notification session/update             terminal_output_chunk
agent  notification session/update             terminal_update
agent  notification session/update             tool_call_update
agent  notification session/update             tool_call_update
agent  notification session/update             state_update
agent  request      session/request_permission
client result       session/request_permission
agent  notification session/update             state_update
agent  notification session/update             tool_call_update
agent  notification session/update             _peers/mood
agent  notification session/update             usage_update
agent  notification session/update             session_info_update
agent  notification session/update             agent_message
agent  notification session/update             state_update
client notification _peers/note
client request      _peers/echo
agent  notification _peers/heard
agent  result       _peers/echo
client request      _peers/unknown
agent  error        _peers/unknown
client request      session/prompt
agent  notification session/update             user_message
agent  result       session/prompt
agent  notification session/update             state_update
agent  notification session/update             agent_message_chunk
client notification session/cancel
agent  notification session/update             state_update
client request      session/close
agent  result       session/close
"""
