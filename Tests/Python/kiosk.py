"""Runs the command of gotchu-display's unit under a browser policy, in its own namespaces.

kiosk.py UNIT POLICY FOLDER, as root under `unshare --mount --net`. A page in place of gotchud's
display has two frames, of the till's port and of another port. When both frames are loaded or
refused, the page requests /done. Prints a JSON list of the requested paths with their ports.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

PATIENCE = int(os.environ.get("GOTCHU_TEST_PATIENCE", 1))
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
DISPLAY, TILL, OTHER = 7465, 7466, 7467
NOBODY = 65534

PAGE = f"""<!doctype html><title>Hello</title>
<iframe src="http://127.0.0.1:{TILL}/till"></iframe><iframe src="http://127.0.0.1:{OTHER}/other"></iframe>
<script>addEventListener("load", () => fetch("/done"))</script>"""

unit, policy, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
asked: set[str] = set()
done = Event()


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        port = self.server.server_port
        body = (PAGE if port == DISPLAY else "Hello").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        asked.add(f"{port}{self.path}")
        if self.path == "/done":
            done.set()

    def log_message(self, *_):
        pass


def command(home: Path) -> list[str]:
    """Returns the unit's command, with another home folder."""
    text = Path(unit).read_text().replace("\\\n", " ")
    words = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.M).group(1))
    return [word.replace("/var/lib/gotchu-display", str(home)) for word in words]


def show() -> None:
    """Runs the unit's command as a user without rights and without a screen, until /done is
    requested."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, NOBODY, NOBODY)
    headless = {
        "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
        "XDG_RUNTIME_DIR": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    with (folder / "cage.log").open("wb") as log:
        cage = subprocess.Popen(
            user + command(home), env=headless, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        done.wait(60 * PATIENCE)
        os.killpg(cage.pid, signal.SIGKILL)
        cage.wait()


folder.chmod(0o755)
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
managed = folder / "chromium/policies/managed"
managed.mkdir(parents=True)
shutil.copy(policy, managed)
subprocess.run(["mount", "--bind", folder / "chromium", "/etc/chromium"], check=True)
for port in (DISPLAY, TILL, OTHER):
    server = ThreadingHTTPServer(("127.0.0.1", port), Page)
    Thread(target=server.serve_forever, daemon=True).start()
show()
asked -= {f"{port}/favicon.ico" for port in (DISPLAY, TILL, OTHER)}
if not done.is_set():
    print((folder / "cage.log").read_text(errors="replace")[-2000:], file=sys.stderr)
print(json.dumps(sorted(asked)))
