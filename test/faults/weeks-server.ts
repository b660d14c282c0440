import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../e2e/cli-world.ts';

const NOT_FOUND = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}';

/** What the server does to the next answers. */
export type Mood = 'json' | 'stream' | 'half-open' | 'broken';

/** An MCP server with sessions, which it can forget, in several moods. */
export async function startMoodyServer() {
  const open = new Set<ServerResponse>();
  let known = '';
  let sessions = 0;
  const state = { mood: 'json' as Mood, executed: new Map<number, number>() };
  const server = await listen(async (req, res) => {
    const body = await text(req);
    if (req.url !== '/mcp') return res.writeHead(404).end();
    const { id, method } = JSON.parse(body);
    const answer = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (method === 'initialize') {
      known = `s${++sessions}`;
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': known });
      return res.end(answer({ protocolVersion: '2025-06-18' }));
    }
    if (req.headers['mcp-session-id'] !== known)
      return res.writeHead(404, { 'content-type': 'application/json' }).end(NOT_FOUND);
    if (id === undefined) return res.writeHead(202).end();
    state.executed.set(id, (state.executed.get(id) ?? 0) + 1);
    if (state.mood === 'broken') return res.destroy();
    if (state.mood === 'json')
      return res.writeHead(200, { 'content-type': 'application/json' }).end(answer({}));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${answer({})}\n\n`);
    if (state.mood === 'stream') return res.end();
    open.add(res);
    const timer = setInterval(() => res.write(': still here\n\n'), 200);
    res.once('close', () => {
      clearInterval(timer);
      open.delete(res);
    });
    return undefined;
  });
  return {
    ...server,
    state,
    /** How many streams are open: those whose client has left are not. */
    open: () => open.size,
    sessions: () => sessions,
    forget: () => {
      known = 'none';
    },
  };
}
