"""What pytest leaves alone here: the peers are programs, not test modules.

They import packages that may be missing, so nothing may collect them, doctests included.
"""

collect_ignore = ["v1_agent.py", "v1_client.py"]
collect_ignore_glob = ["v2/*"]
