"""Tests of the control socket's commands."""

import json
from typing import Any
from unittest import TestCase

from air.control import Control

from .simulated_air import SimulatedAir


class ControlTest(TestCase):
    def setUp(self) -> None:
        self.air = SimulatedAir()
        self.control = Control(self.air.medium, self.air.controllers)

    def do(self, name: str, **arguments: Any) -> Any:
        return json.loads(self.control.answer(json.dumps({"do": name} | arguments).encode()))

    def test_what_is_wrong_with_a_command_is_its_answer(self) -> None:
        for line in (b"", b"[]", b"{}", b'{"do": "dance"}', b'{"do": "__init__"}',
                     b'{"do": "answer", "line": ""}', b'{"do": "level", "sender": "c0"}',
                     b'{"do": "duplicates", "mode": "some"}', b'{"do": "add", "table": "x"}'):
            with self.subTest(line):
                reply = json.loads(self.control.answer(line))
                self.assertFalse(reply["ok"])
                self.assertIn(": ", reply["error"])

    def test_the_state_tells_what_is_on_the_air(self) -> None:
        self.air.advertise(0, bytes.fromhex("0303edfe"))
        self.air.scan(1)
        self.air.advance(1)
        state = self.do("state")
        self.assertEqual(state["controllers"]["c0"]["on_air"][0]["data"], "0303edfe")
        self.assertEqual(state["controllers"]["c0"]["on_air"][0]["interval_ms"], 100)
        self.assertTrue(state["controllers"]["c1"]["is_scanning"])
        self.assertGreater(state["sent"]["c0"], 5)

    def test_quiet_undoes_everything(self) -> None:
        self.do("level", sender="*", receiver="*", dbm=None)
        self.do("crowd", size=30, seed=1)
        self.do("ramp", sender="c0", receiver="c1", start=-80, end=-40, seconds=5)
        self.do("loss", probability=1)
        self.do("quiet")
        self.air.advance(10)
        sent = self.air.medium.sent
        self.assertLessEqual(sum(sent.values()), 30)
        self.assertEqual(self.air.medium.level("c0", "c1"), self.air.medium.default_level)
