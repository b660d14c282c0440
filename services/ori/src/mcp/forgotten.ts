/**
 * What servers answer in a session that they do not know any more, as after a restart. None has carried the message out, so that it
 * can be sent again in a new session. A client of a bridge cannot begin one, because it sees no status.
 */
const FORGOTTEN: readonly { readonly status: number; readonly says?: RegExp }[] = [
  // MCP since 2025-03-26, Streamable HTTP, Session Management.
  { status: 404 },
  // RFC 9110, section 15.5.11.
  { status: 410 },
  // Examples of the TypeScript SDK (typescript-sdk#1707), the Python SDK (python-sdk#1004), MCP-Nest#106, and many copies.
  { status: 400, says: /No valid session ID/ },
  // The TypeScript SDK, whose transport is a new one (obsidian-mcp-tools#34).
  { status: 400, says: /Server not initialized/ },
  // mcp-go (mcp-go#689).
  { status: 400, says: /Invalid session ID/ },
  // rmcp (rust-sdk#689).
  { status: 401, says: /Session not found/ },
];

/** @param code the refusal code of a verifier or guard, which knows no sessions */
export function isForgotten(status: number, code: string | undefined, text: string): boolean {
  return (
    code === undefined && FORGOTTEN.some((one) => one.status === status && (one.says?.test(text) ?? true))
  );
}
