"""Chromium driven through its debugging pipe: opens a page as a reader's window would, and does what a reader does."""

import base64
import itertools
import json
import os
import subprocess
from contextlib import contextmanager

from assay.cli.report import browser_command

LONGEST_S = 60


class Chromium:
    """One browser process; `page` gives a window of its own for a file."""

    def __init__(self, browser, profile):
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        command = [*browser_command(browser, profile), "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            ["timeout", "300", "bash", "-c", script, "bash", str(commands), str(answers), *command],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self.events = []

    def close(self):
        self.send("Browser.close")
        self._process.wait(LONGEST_S)
        os.close(self._write)
        os.close(self._read)

    def send(self, method, session=None, **parameters):
        """The result of a command; events that come in the meantime are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def wait(self, event, session):
        """Until the browser says so."""
        while not any(one.get("method") == event and one.get("sessionId") == session for one in self.events):
            self.events.append(self._next())

    def _next(self):
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 16)
            assert more, "the browser ended"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    @contextmanager
    def page(self, url, width=1280, height=900, *, dark=False, script=True):
        """A page in a window of a width, in a system whose colours are light or dark."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.send("Page.enable")
        page.send("Runtime.enable")
        page.send("Emulation.setScriptExecutionDisabled", value=not script)
        page.size(width, height)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        page.send("Emulation.setEmulatedMedia", features=scheme)
        page.go(url)
        try:
            yield page
        finally:
            self.send("Target.closeTarget", targetId=target)


class Page:
    """One window with a page."""

    def __init__(self, chromium, session):
        self._chromium = chromium
        self._session = session

    def send(self, method, **parameters):
        return self._chromium.send(method, self._session, **parameters)

    def size(self, width, height):
        """The window's inner size in pixels."""
        own = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **own)

    def go(self, url):
        """Load a page from its beginning."""
        self._chromium.events.clear()
        self.send("Page.navigate", url="about:blank")
        self._chromium.wait("Page.loadEventFired", self._session)
        self._chromium.events.clear()
        self.send("Page.navigate", url=url)
        self._chromium.wait("Page.loadEventFired", self._session)

    def ask(self, expression):
        """What an expression comes to in the page."""
        done = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key):
        """A key, on what has the focus."""
        code = {"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Tab": 9}[key]
        typed = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def point(self, selector, across=0.5, down=0.5):
        """The pointer over a place of a part, after scrolling to it."""
        place = self.ask(
            f"(async () => {{ const part = document.querySelector({json.dumps(selector)}); part.scrollIntoView({{block: 'center'}});"
            " await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
            " const box = part.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()"
        )
        x, y = place[0] + across * place[2], place[1] + down * place[3]
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector):
        """The left button on a part's middle."""
        x, y = self.point(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def problems(self):
        """Errors and warnings of scripts until now."""
        self.ask("0")
        known = {"Runtime.exceptionThrown": "exceptionDetails", "Runtime.consoleAPICalled": "args"}
        return [one["params"][known[one["method"]]] for one in self._chromium.events if one.get("method") in known]

    def picture(self):
        """As a PNG: what the window shows."""
        return base64.b64decode(self.send("Page.captureScreenshot")["data"])

    def pdf(self):
        """As it is printed on A4."""
        return base64.b64decode(
            self.send("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)["data"]
        )
