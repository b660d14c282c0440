import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { VerifiedProof } from '@ori/verifier';
import type { Proven } from '@ori/verifier/node';
import { ORI, type OriHome } from '../../e2e/cli-process.ts';
import { type CliWorld, INTERN_ID, listen } from '../../e2e/cli-world.ts';

/** The environment of `ori` in a home folder, for programs that start it themselves. */
export function environmentOf(home: OriHome, world: CliWorld, daemon: string): Record<string, string> {
  const { PATH = '' } = process.env;
  const addresses = { ORI_BASE_URL: world.baseUrl, ORI_DAEMON_URL: daemon };
  return { PATH, ...home.environment, ...addresses, BROWSER: 'true' };
}

/** What an MCP client starts. */
export const bridgeOf = (env: Record<string, string>, ...options: string[]) => ({
  command: process.execPath,
  args: [ORI, 'mcp', INTERN_ID, '/mcp', ...options],
  env,
  stderr: 'pipe' as const,
});

/** An unmodified client of the official SDK, connected over stdio. */
export async function connectClient(env: Record<string, string>, prepare?: (client: Client) => void) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  prepare?.(client);
  const transport = new StdioClientTransport(bridgeOf(env));
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

export const authOf = ({ user, internId }: VerifiedProof) => ({
  token: '',
  clientId: internId,
  scopes: [],
  extra: { user },
});

/** A handler of the newest SDK behind the verifier, and the media types of its answers. Its request ends when the client leaves. */
export function answersOf(handler: McpHttpHandler, types = new Set<string | null>()) {
  return async (req: IncomingMessage, res: ServerResponse, { proof, body }: Proven) => {
    const left = new AbortController();
    res.on('close', () => left.abort());
    const answer = await handler.fetch(
      new Request(`http://localhost${req.url}`, {
        method: 'POST',
        headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
        body: new Uint8Array(body),
        signal: left.signal,
      }),
      { authInfo: authOf(proof) },
    );
    types.add(answer.headers.get('content-type'));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) res.end();
    else await pipeline(answer.body, res).catch(() => {});
  };
}

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A hop that passes everything on to a daemon, and can send each request again. */
export async function startRecorder(daemonUrl: string) {
  const recorded: Recorded[] = [];
  const send = ({ method, url, headers, body }: Recorded) =>
    new Promise<IncomingMessage>((resolve, reject) =>
      request(new URL(daemonUrl), { method, path: url, headers, agent: false }, resolve)
        .on('error', reject)
        .end(body),
    );
  const hop = await listen(async (req, res) => {
    const { method = '', url = '', headers } = req;
    const seen = { method, url, headers, body: await buffer(req) };
    recorded.push(seen);
    const answer = await send(seen);
    res.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(res);
  });
  return {
    url: hop.url,
    recorded,
    /** The status and the code of each request, when it is sent again. */
    repeated: () =>
      Promise.all(
        recorded.map(async (one) => {
          const answer = await send(one);
          return `${answer.statusCode} ${JSON.parse(String(await buffer(answer))).error?.code}`;
        }),
      ),
    [Symbol.asyncDispose]: () => hop.stop(),
  };
}
