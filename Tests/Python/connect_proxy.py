"""connect_proxy.py [STATUS]: an HTTP proxy on loopback that supports only CONNECT (RFC 9110, 9.3.6).

Prints its address, then the method and target of each request. With STATUS, answers every request
with this status and connects to nothing.
"""

import asyncio
import sys

refusal = sys.argv[1] if len(sys.argv) > 1 else None


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
    print(method, target, flush=True)
    if refusal or method != "CONNECT":
        writer.write(f"HTTP/1.1 {refusal or 405} X\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        return
    host, port = target.rsplit(":", 1)
    up, down = await asyncio.open_connection(host, int(port))
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await asyncio.gather(copy(reader, down), copy(up, writer))


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
