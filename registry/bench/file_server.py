"""HTTP server of a folder on loopback, as a cache in front of a log would be."""

import asyncio
import sys
from pathlib import Path


async def serve(folder: Path) -> None:
    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                path = request.split(b" ", 2)[1].decode().lstrip("/")
                file = folder / path
                exists = file.is_file()
                body = file.read_bytes() if exists else b""
                status = b"200 OK" if exists else b"404 Not Found"
                head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n"
                writer.write(head % (status, len(body)) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
