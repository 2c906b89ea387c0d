"""An AWS that verifies signatures: moto with its authentication switched on, after the three calls that make a user.

Prints its port, and ends with its standard input.
"""
import os
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".build" / "peers"))
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "3"

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def end_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.port, flush=True)
server.serve_forever()
