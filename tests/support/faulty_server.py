"""A local server that does what servers do: cuts connections, forgets ranges, is busy, sends other bytes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Page:
    """What an address answers with."""

    content: bytes
    cuts: list[int] = field(default_factory=list)  # After how many bytes the next answers are cut; then none is.
    statuses: list[int] = field(default_factory=list)  # What the next requests are refused with; then none is.
    status: int | None = None  # What every request is refused with.
    resumes: bool = True  # Whether a part of the content can be asked for.
    is_endless: bool = False
    tells_length: bool = True
    is_chunked: bool = False
    location: str = ""  # Where it sends everybody instead.
    sleeps: float = 0.0  # Seconds before the first byte.


@dataclass
class FaultyServer:
    address: str
    pages: dict[str, Page]
    asked: list[tuple[str, str]] = field(default_factory=list)  # Path and range of every request.

    def url(self, path: str, page: Page | bytes) -> str:
        self.pages[path] = page if isinstance(page, Page) else Page(page)
        return self.address + path


@contextmanager
def faulty_server() -> Iterator[FaultyServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.close_connection = True
            server.asked.append((self.path, self.headers.get("Range", "")))
            page = server.pages.get(self.path)
            if page is None or page.status is not None or page.statuses:
                self.send_error(404 if page is None else page.status or page.statuses.pop(0))
                return
            time.sleep(page.sleeps)
            if page.location:
                self.send_response(302)
                self.send_header("Location", page.location)
                self.end_headers()
                return
            self._send(page)

        def _send(self, page: Page) -> None:
            first = 0
            if page.resumes and "Range" in self.headers:
                first = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                if first >= len(page.content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(page.content)}")
                    self.end_headers()
                    return
            self.send_response(206 if first else 200)
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(page.content) - 1}/{len(page.content)}")
            rest = page.content[first:]
            if page.is_chunked:
                self.send_header("Transfer-Encoding", "chunked")
                rest = b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest)
            elif page.tells_length and not page.is_endless:
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: page.cuts.pop(0)] if page.cuts else rest)
            while page.is_endless:
                self.wfile.write(page.content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Who asked has heard enough."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    server = FaultyServer(f"http://127.0.0.1:{listening.server_port}", {})
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
