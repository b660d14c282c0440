import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { createLocalKeySet, createVerifier } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore } from '@ori/verifier/testing';
import { z } from 'zod';

/*
 * An MCP server as a process: server.ts PORT FORM, where FORM is JSON. `sdk` 1 has sessions, 2 serves MCP 2026-07-28, and 2025
 * without sessions. With `jwks` it verifies proofs, and keeps answers with `answers`.
 */
const [port, form = ''] = process.argv.slice(2);
const { sdk, internId, jwks, answers } = JSON.parse(form);

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const question = {
  message: 'how far?',
  requestedSchema: { type: 'object' as const, properties: { answer: { type: 'string' as const } } },
};
const seconds = z.object({ seconds: z.number() });
const slow = async (args: { seconds: number }, signal: AbortSignal) => {
  await pause(args.seconds * 1000, undefined, { signal });
  return said(`slept ${args.seconds}`);
};
const die = () => {
  setTimeout(() => process.exit(9), 50);
  return pause(60_000).then(() => said(''));
};
const big = () => said('x'.repeat(2 * 1024 * 1024));

function stable(): McpServer {
  const server = new McpServer({ name: 'stable', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => said(text));
  server.registerTool('slow', { inputSchema: seconds }, (args, { mcpReq }) => slow(args, mcpReq.signal));
  server.registerTool('big', {}, big);
  server.registerTool('die', {}, die);
  server.registerTool('null', {}, () => said(''));
  server.registerTool('elicit', {}, ({ mcpReq }) => {
    const given = mcpReq.inputResponses?.['answer'];
    if (given !== undefined) return said(JSON.stringify(given));
    return inputRequired({ inputRequests: { answer: inputRequired.elicit(question) } });
  });
  return server;
}

function first(): OldServer {
  const server = new OldServer({ name: 'first', version: '1.0.0' });
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => said(text));
  server.registerTool('slow', { inputSchema: { seconds: z.number() } }, (args, { signal }) =>
    slow(args, signal),
  );
  server.registerTool('big', {}, big);
  server.registerTool('die', {}, die);
  server.registerTool('null', {}, () => said(''));
  server.registerTool('elicit', {}, async ({ sendRequest }) => {
    const request = { method: 'elicitation/create' as const, params: question };
    return said(JSON.stringify((await sendRequest(request, ElicitResultSchema)).content));
  });
  return server;
}

const stateless = toNodeHandler(createMcpHandler(stable));
const sessions = new Map<string, StreamableHTTPServerTransport>();

async function withSession(req: IncomingMessage, res: ServerResponse, message: unknown): Promise<void> {
  const id = req.headers['mcp-session-id'];
  let transport = sessions.get(String(id));
  if (transport === undefined && id !== undefined) {
    // As the examples of this SDK did.
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
    return;
  }
  if (transport === undefined) {
    const opened = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, opened),
    });
    await first().connect(opened as Transport);
    transport = opened;
  }
  await transport.handleRequest(req, res, message);
}

async function serve(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
  const message = JSON.parse(body.toString());
  if (message.method === 'tools/call' && message.params.name === 'null') {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"boom"}}');
    return;
  }
  await (sdk === 1 ? withSession(req, res, message) : stateless(req as never, res, message));
}

function listener(): RequestListener {
  if (jwks === undefined)
    return async (req, res) => {
      if (req.method === 'POST') await serve(req, res, await buffer(req));
      else res.writeHead(405).end();
    };
  const replay = createTestReplayStore();
  const verifier = createVerifier({ internId, keys: createLocalKeySet(jwks), replay, answers });
  return requireProof(verifier, { bodyBytesMax: 4_000_000 }, (req, res, { body }) => serve(req, res, body));
}

createServer(listener()).listen(Number(port), '127.0.0.1');
