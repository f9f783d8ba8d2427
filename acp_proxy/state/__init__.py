"""Events to state: what was true just after a message. Pure: no I/O, no clock, no versions.

Reducers change the state in place, so that folding costs the same for each
message however much came before.
"""
