"""Logs to be audited: written as files, or served over HTTP on loopback."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.auditor import audit
from registry.bench.verification import write_log
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

SIGNER = Signer(
    name="registry.example/audit",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"lab log key").digest()),
)
VKEY = format_vkey(SIGNER.verifier_key)


def publish(folder: Path, bodies: list[bytes]) -> Path:
    """The log as it now is, beside what was published of it before."""
    folder.mkdir(exist_ok=True)
    write_log(folder, iter(bodies), SIGNER)
    return folder


def run(*arguments: object) -> Result:
    """`audit …`; an exception that it does not tell of fails the test."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(audit, words, catch_exceptions=False)


def run_json(*arguments: object) -> tuple[int, dict[str, Any]]:
    result = run(*arguments, "--json")
    output: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, output


class Served:
    """What a registry answers: the log of a folder, and JSON by path.

    asked: the paths. posted: the bodies. failures: for a path, status codes to give first.
    signed: by path, a body and its detached JWS.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, Any] = {"/v1/log": {"verifierKey": VKEY}}
        self.signed: dict[str, tuple[bytes, str]] = {}
        self.requested: list[str] = []
        self.posted: list[bytes] = []
        self.failures: dict[str, list[int]] = {}
        self.url = ""

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        self.requested.append(path)
        if self.failures.get(path):
            return self.failures[path].pop(0), b"{}", {}
        if path in self.answers:
            return 200, json.dumps(self.answers[path]).encode(), {}
        if path in self.signed:
            body, token = self.signed[path]
            return 200, body, {"X-JWS-Signature": token}
        file = self.folder / path.lstrip("/")
        if not file.is_file():
            return 404, b'{"code":"absent","detail":"not here"}', {}
        return 200, gzip.compress(file.read_bytes()), {"Content-Encoding": "gzip"}


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    served = Served(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            status, body, headers = served.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            served.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
