"""The commands of the control socket.

Each line is a JSON object `{"do": NAME, ...arguments}`. The answer is a line `{"ok": true, ...}` or
`{"ok": false, "error": SENTENCE}`. A person can use `socat - UNIX:/run/air.sock`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from . import advert
from .controller import ADVERTISING_SETS, Controller
from .filters import DuplicateFilter
from .medium import Medium


class Control:
    """The commands. Each public method except `answer` is a command; its parameters are the
    arguments."""

    def __init__(
        self,
        medium: Medium,
        controllers: list[Controller],
        plug: Callable[[int, int], Controller] | None = None,
    ) -> None:
        self._medium = medium
        self._controllers = controllers
        self._plug = plug

    def level(self, sender: str, receiver: str, dbm: float | None) -> None:
        """Sets the level from a sender to a receiver. `*` means every radio, and null means out of
        reach."""
        self._medium.set_level(sender, receiver, dbm)

    def ramp(self, sender: str, receiver: str, start: float, end: float, seconds: float) -> None:
        """Changes a link's level evenly within some seconds."""
        self._medium.ramp(sender, receiver, start, end, seconds)

    def noise(self, db: float) -> None:
        """Sets the standard deviation of every measured level, in dB."""
        self._medium.noise = db

    def loss(self, probability: float, responses: float = 0.0) -> None:
        """Sets the probabilities that a receiver misses an advert, and that it misses a scan
        response."""
        self._medium.loss = probability
        self._medium.response_loss = responses

    def duplicates(self, mode: str) -> None:
        """Sets the filter of repeated adverts in every controller: `none`, `addr`, `data`."""
        for controller in self._controllers:
            controller.duplicates = DuplicateFilter(mode)

    def add(self, table: str) -> dict[str, int]:
        """Adds strangers to the air, in the notation of strangers.txt."""
        found = advert.strangers(table)
        for stranger in found:
            self._medium.add(stranger)
        return {"added": len(found)}

    def crowd(
        self, size: int, seed: int, interval_ms: int = 1000, lowest: int = -95, highest: int = -50
    ) -> None:
        """Adds everyday devices to the air, named `crowd0` and so on."""
        people = advert.crowd(size, Random(seed), interval_ms / 1000, (lowest, highest))
        for stranger in people:
            self._medium.add(stranger)

    def remove(self, name: str) -> dict[str, int]:
        """Removes the strangers whose names begin with `name` from the air."""
        return {"removed": self._medium.remove(name)}

    def unplug(self, controller: str) -> None:
        """Unplugs a controller; `*` means all controllers."""
        for each in self._named(controller):
            each.unplug()
            self._controllers.remove(each)
            self._medium.receivers.remove(each)

    def plug(self, controller: str, is_dead: bool = False, slots: int = ADVERTISING_SETS) -> None:
        """Plugs in the controller `cN`. The kernel gives it the lowest free number."""
        if self._plug is None or any(each.name == controller for each in self._controllers):
            raise ValueError(f"cannot be plugged in: {controller}")
        added = self._plug(int(controller[1:]), slots)
        added.is_dead = is_dead
        self._controllers.append(added)

    def lose_scan(self, controller: str) -> None:
        """Stops a controller's scan without telling its host."""
        for each in self._named(controller):
            each.lose_scan()

    def fail(self, controller: str) -> None:
        """Crashes a controller's firmware, which restarts and reports a hardware error."""
        for each in self._named(controller):
            each.fail()

    def freeze(self, controller: str) -> None:
        """Hangs a controller's firmware. It does not answer, send or receive until `thaw`."""
        for each in self._named(controller):
            each.freeze()

    def thaw(self, controller: str, remembers: bool = False) -> None:
        """Resumes a hung firmware. It carries out the commands that were sent meanwhile if
        `remembers`, and otherwise has lost them."""
        for each in self._named(controller):
            each.thaw(remembers)

    def _named(self, name: str) -> list[Controller]:
        found = [each for each in self._controllers if name in ("*", each.name)]
        if not found and name != "*":
            raise ValueError(f"no such controller: {name}")
        return found

    def quiet(self) -> None:
        """Resets the air: no strangers, default levels, no noise, no loss and no duplicate
        filter."""
        self._medium.clear()
        self.duplicates("none")

    def state(self) -> dict[str, Any]:
        """Returns the state of every controller, and the number of sent adverts by sender."""
        return {
            "sent": self._medium.sent,
            "controllers": {
                controller.name: {
                    "on_air": [
                        {
                            "address": each.advert().address[::-1].hex(":"),
                            "data": each.data.hex(),
                            "interval_ms": round(each.beacon.interval * 1000, 3),
                        }
                        for each in controller.on_air
                    ],
                    "sent_by_data": self._medium.sent_by_data.get(controller.name, {}),
                    "off_air_count": controller.off_air_count,
                    "is_scanning": controller.scan.is_on,
                    "is_active_scan": controller.scan.is_active,
                    "active_scans": controller.active_scans,
                    "drops_duplicates": controller.scan.drops_duplicates,
                    "reports": controller.reports,
                    "commands": controller.commands,
                    "unknown_commands": [hex(each) for each in controller.unknown_commands],
                }
                for controller in self._controllers
            },
        }

    def answer(self, line: bytes) -> bytes:
        """Carries out one line, and returns the answer. An error of the command is an answer
        too."""
        try:
            arguments = json.loads(line)
            name = arguments.pop("do")
            if name.startswith("_") or name == "answer" or not hasattr(self, name):
                raise ValueError(f"no such command: {name}")
            reply = {"ok": True} | (getattr(self, name)(**arguments) or {})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        return json.dumps(reply).encode() + b"\n"
