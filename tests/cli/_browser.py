#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""_browser.py chromium|firefox FILE CHECKS [SCREENSHOT-PREFIX]: opens FILE in that
browser, without a window, and runs the lines of CHECKS; prints TAP. A line is

    # NAME                  what the checks that follow are about
    is EXPRESSION           passes when this JavaScript gives true, at once or after
                            what was done before it has reached the page
    move SELECTOR           the mouse goes to the middle of an element, or to the place [X, Y] that
                            JavaScript in brackets, (...), gives
    click SELECTOR          and is pressed there
    key NAME                a key: a character, Enter, Escape, ArrowUp ...
    type TEXT               its characters as keys
    screenshot NAME         PREFIX-NAME.png

Mouse and keys are the browser's own, so that what an event meets is what a
user's would. Chromium is driven through its debugging pipe, Firefox through
Marionette; neither needs another program."""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 120
SETTLED = 10  # seconds after which a page does not change any more
CODES = {"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
WEBDRIVER_KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Backspace": "\ue003", "ArrowLeft": "\ue012",
                  "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
WIDTH, HEIGHT = 1000, 600


def end(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Chromium:
    """The protocol: JSON texts, each ended by a NUL, on descriptors 3 and 4."""

    def __init__(self, place):
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def wire():
            # neither end may be where the other has to go
            a, b = os.dup(to_child), os.dup(from_child)
            a, b = (os.dup(x) if x in (3, 4) else x for x in (a, b))
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={place}", f"--window-size={WIDTH},{HEIGHT}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.pending, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")

    def message(self):
        while b"\0" not in self.pending:
            part = os.read(self.inp, 1 << 16)
            if not part:
                raise RuntimeError("chromium has ended")
            self.pending += part
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def faults(self):
        """Exceptions, and what the browser says against the page: what it must not run or fetch."""
        return [e["params"] for e in self.events if e.get("method") == "Runtime.exceptionThrown" or
                (e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")]

    def eval(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        if "exceptionDetails" in result:
            return result["exceptionDetails"].get("exception", {}).get("description", "exception")
        return result["result"].get("value")

    def mouse(self, x, y, press):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if press else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name):
        text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
        code = CODES.get(name, ord(name[0].upper()) if name.isalnum() else 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def picture(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def end(self):
        end(self.process)


class Firefox:
    """Marionette: LENGTH:JSON on a TCP port of its own choice, which it writes into its profile."""

    def __init__(self, place):
        with open(f"{place}/user.js", "w", encoding="ascii") as prefs:
            prefs.write('user_pref("marionette.port", 0);\n')
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", place,
             f"--width={WIDTH}", f"--height={HEIGHT}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": place, "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.pending, self.number = b"", 0
        self.socket = self.connect(f"{place}/MarionetteActivePort")
        self.message()
        self.call("WebDriver:NewSession", {})
        self.call("WebDriver:SetWindowRect", {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT})

    def connect(self, port_file):
        for _ in range(10 * LIMIT):
            if self.process.poll() is not None:
                raise RuntimeError("firefox has ended")
            try:
                with open(port_file, encoding="ascii") as file:
                    return socket.create_connection(("127.0.0.1", int(file.read())), LIMIT)
            except (OSError, ValueError):
                time.sleep(0.1)
        raise RuntimeError("firefox does not answer")

    def message(self):
        while b":" not in self.pending:
            self.pending += self.receive()
        length, self.pending = self.pending.split(b":", 1)
        while len(self.pending) < int(length):
            self.pending += self.receive()
        text, self.pending = self.pending[:int(length)], self.pending[int(length):]
        return json.loads(text)

    def receive(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise RuntimeError("firefox has ended")
        return part

    def call(self, method, params):
        self.number += 1
        text = json.dumps([0, self.number, method, params]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        answer = self.message()
        if answer[2]:
            raise RuntimeError(f"{method}: {answer[2]}")
        return answer[3]

    def open(self, url):
        self.call("WebDriver:Navigate", {"url": url})

    def faults(self):
        return []

    def eval(self, text):
        try:
            return self.call("WebDriver:ExecuteScript", {"script": f"return ({text});", "args": []})["value"]
        except RuntimeError as e:
            return str(e)

    def mouse(self, x, y, press):
        steps = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}]
        if press:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def key(self, name):
        value = WEBDRIVER_KEYS.get(name, name)
        self.call("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]}]})

    def picture(self):
        return base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False})["value"])

    def end(self):
        end(self.process)


MIDDLE = """(function (e) { if (!e) return null; const b = e.getBoundingClientRect();
return [b.x + b.width / 2, b.y + b.height / 2]; })(document.querySelector(%s))"""


class Run:
    def __init__(self, browser, prefix):
        self.browser, self.prefix, self.checks, self.about = browser, prefix, 0, ""

    def result(self, passed, name, why=""):
        self.checks += 1
        print(f"{'ok' if passed else 'not ok'} {self.checks} - {name}", flush=True)
        if not passed:
            print(f"# {why!r}", flush=True)

    def point(self, selector, press):
        place = self.browser.eval(selector if selector.startswith("(") else MIDDLE % json.dumps(selector))
        if isinstance(place, list):
            self.browser.mouse(*place, press)
        else:
            self.result(False, f"{self.about}: {selector} is there", place)

    def line(self, word, rest):
        if word == "#":
            self.about = rest
        elif word == "is":
            until = time.monotonic() + SETTLED
            while (got := self.browser.eval(rest)) is not True and time.monotonic() < until:
                time.sleep(0.05)
            self.result(got is True, f"{self.about}: {rest}", got)
        elif word in ("move", "click"):
            self.point(rest, word == "click")
        elif word == "key":
            self.browser.key(rest)
        elif word == "type":
            for character in rest:
                self.browser.key(character)
        elif word == "screenshot" and self.prefix:
            with open(f"{self.prefix}-{rest}.png", "wb") as file:
                file.write(self.browser.picture())
        elif word != "screenshot":
            raise SystemExit(f"not understood: {word} {rest}")


def main():
    if len(sys.argv) not in (4, 5):
        raise SystemExit(__doc__)
    place = tempfile.mkdtemp(prefix="browser.", dir=".")
    browser = {"chromium": Chromium, "firefox": Firefox}[sys.argv[1]](os.path.abspath(place))
    run = Run(browser, sys.argv[4] if len(sys.argv) > 4 else None)
    try:
        browser.open("file://" + os.path.abspath(sys.argv[2]))
        with open(sys.argv[3], encoding="utf-8") as checks:
            for line in checks:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word:
                    run.line(word, rest)
        run.result(not browser.faults(), "the script throws nothing", browser.faults())
        print(f"1..{run.checks}")
    finally:
        browser.end()
        shutil.rmtree(place, ignore_errors=True)


main()
