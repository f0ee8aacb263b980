"""A machine on which attaching a drive only leaves a log, and any step can be made to fail."""

import json
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

from assay.model.errors import AssayError

PATH_COST = {"read": {"base_ns": 1.0, "ns_per_byte": 0.1}, "write": {"base_ns": 2.0, "ns_per_byte": 0.2}}
REPORT = {
    "begun": True, "late": {"requests": 0, "share": 0.0, "worst_us": 0.0, "seconds": 0.0}, "memory_locked": True,
    "backing_errors": {"count": 0, "reasons": []},
}  # fmt: skip


class FakeProcess:
    """An emulator's process: runs until it is told to stop, or killed by a test."""

    pid = 1 << 22

    def __init__(self):
        self.code = None

    def poll(self):
        return self.code


class FakeSystem:
    """Notes what is done; answers on the control socket as an emulator does."""

    digest = "e" * 16

    def __init__(self, fail_at=None, report=REPORT):
        self.log = []
        self.fail_at = fail_at
        self.report = report
        self.process = FakeProcess()
        self.says = "ready\n"

    def note(self, what):
        self.log.append(what)
        if what == self.fail_at:
            raise AssayError(f"scripted failure of {what}")

    def run(self, *command):
        self.note(command[0])
        return "/dev/loop7\n" if command[0] == "losetup" else ""

    def start(self, command, directory, log, environment):
        self.note("emulator")
        self.command, self.environment = command, environment
        listener = socket.socket(socket.AF_UNIX)
        # The socket's own path may be too long for a test's directory.
        descriptor = threading.Event()
        threading.Thread(target=self._serve, args=(listener, directory, descriptor), daemon=True).start()
        descriptor.wait(5)
        log.write_text(self.says)
        return self.process

    def write(self, file, text):
        if "oom_score_adj" in str(file):
            return True
        what = f"{file.name}={text.strip()}"
        self.log.append(what)
        return what != self.fail_at

    def unmount(self, point):
        self.note(f"unmount {point.name}")

    def detach(self, loop):
        self.note(f"detach {loop.device}")

    def measure(self, device, home):
        self.note("measure")
        return PATH_COST

    def _serve(self, listener, directory, bound):
        descriptor = os.open(directory, os.O_PATH)
        listener.bind(f"/proc/self/fd/{descriptor}/control")
        listener.listen()
        bound.set()
        while self.process.code is None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                word, _, rest = connection.makefile("r").readline().strip().partition(" ")
                self._answer(connection, word, rest)
        listener.close()
        os.close(descriptor)

    def _answer(self, connection, word, rest):
        if word:
            self.log.append(f"ask {word}")
        if word == "stop":
            self.process.code = 0
        refused = f"ask {word}" == self.fail_at
        answer = {"error": "scripted"} if refused else self.report if word == "report" else {"ok": True}
        connection.sendall(json.dumps(answer).encode() + b"\n")

    @property
    def binary(self):
        return Path("/nowhere/assay-emulator")
