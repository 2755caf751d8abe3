"""A server of the Model Context Protocol, written with its SDK: a shop.

Run alone, it speaks over pipes; given the number of a socket that it inherits, over streamable HTTP on that.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations


def shop() -> MCPServer[Any]:
    """Return a shop in which nothing has happened yet."""
    server: MCPServer[Any] = MCPServer("shop", log_level="ERROR")
    orders = {"A-1": "sent", "A-2": "open"}

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, title="Order status"))
    def status(order_id: str) -> str:
        """Tell an order's state."""
        if order_id not in orders:
            raise ToolError(f"404: no order {order_id}")
        return orders[order_id]

    @server.tool(annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True))
    def cancel(order_id: str) -> dict[str, str]:
        """Cancel an order."""
        orders[order_id] = "cancelled"
        return {order_id: orders[order_id]}

    @server.tool()
    def crash() -> str:
        """End the server."""
        os._exit(3)

    return server


@contextmanager
def shop_over_http() -> Iterator[str]:
    """Yield the address of a shop behind streamable HTTP."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = shop().streamable_http_app()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def shop_that_can_crash() -> Iterator[str]:
    """Yield the address of a shop behind streamable HTTP, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number = listening.fileno()
        process = subprocess.Popen([sys.executable, "-m", "tests.agents.mcp_shop", str(number)], pass_fds=[number])
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    try:
        yield address
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        uvicorn.run(shop().streamable_http_app(), fd=int(sys.argv[1]), log_level="error", lifespan="on")
    else:
        shop().run()
