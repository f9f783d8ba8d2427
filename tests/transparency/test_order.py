"""What is recorded keeps the order of cause and effect between the two directions."""

from __future__ import annotations

from tests.agents.streams import frame
from tests.harness import Log, Way, agent, needs_linux

pytestmark = needs_linux


def test_an_answer_is_never_recorded_before_its_cause(log: Log, proxied: Way) -> None:
    rounds = 700
    said = bytearray()
    with proxied.start(agent("echo")) as process:
        for number in range(rounds):
            said += frame(number)
            process.send(frame(number))
            process.stdout.wait_count(len(said))
        process.close_stdin()
        assert process.wait() == 0

    messages = log.messages()
    assert [message["from"] for message in messages] == ["client", "agent"] * rounds
    assert [message["bytes"] for message in messages[::2]] == [len(frame(n)) for n in range(rounds)]
    assert [message["bytes"] for message in messages[1::2]] == [
        len(frame(n)) for n in range(rounds)
    ]
    numbers = [message["seq"] for message in messages]
    assert numbers == sorted(set(numbers))
    times = [message["elapsed_ns"] for message in messages]
    assert times == sorted(times)
    assert times[0] >= 0
