"""Two persons in one session of a real MCP server, `mcp` 1 or 2, behind ori_proof. Prints what a tool told of each."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[3] / "libs/public/python/src"))

from ori_proof.testing import TestSigner

PAGE = Path(__file__).parents[3] / "libs/public/verifier/README.md"
code = PAGE.read_text().split("### MCP servers")[1].split("```python\n")[1].split("```")[0]
try:
    import mcp.server.mcpserver  # noqa: F401
except ImportError:
    # As the page says.
    code = code.replace("mcp.server.mcpserver", "mcp.server.fastmcp").replace("MCPServer", "FastMCP")
signer = TestSigner()
daemon: dict[str, Any] = {"verifier": signer.verifier()}
exec(code, daemon)


async def main() -> None:
    app, inner = daemon["app"], daemon["app"]._app
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000", timeout=20)
    session: dict[str, str] = {}

    async def post(user: str, **message: Any) -> httpx.Response:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        accept = {"accept": "application/json, text/event-stream"}
        return await client.post(
            "/mcp", content=body, headers={**signer.headers(user, "/mcp", body), **accept, **session}
        )

    def result(answer: httpx.Response) -> Any:
        lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
        return json.loads(lines[-1] if lines else answer.text)["result"]

    async with inner.router.lifespan_context(inner):
        info = {"clientInfo": {"name": "test", "version": "1"}, "capabilities": {}, "protocolVersion": "2025-06-18"}
        opened = await post("ada", id=1, method="initialize", params=info)
        session["mcp-session-id"] = opened.headers["mcp-session-id"]
        session["mcp-protocol-version"] = result(opened)["protocolVersion"]
        await post("ada", method="notifications/initialized")
        call = {"name": "whoami", "arguments": {}}
        told = {}
        for index, user in enumerate(["ada", "mallory", "ada"]):
            told[f"{index} {user}"] = result(await post(user, id=2 + index, method="tools/call", params=call))[
                "content"
            ][0]["text"]
        bare = await client.post("/mcp", content=b"{}", headers={"content-type": "application/json", **session})
    print(json.dumps({"told": told, "without a proof": bare.status_code}))


asyncio.run(main())
