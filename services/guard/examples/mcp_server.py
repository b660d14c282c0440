from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("greeter")


@server.tool()
def whoami(ctx: Context) -> str:
    return ctx.headers["x-ori-verified-user"]


server.run("streamable-http", host="127.0.0.1", port=8000, stateless_http=True)
