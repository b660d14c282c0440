import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { freePort } from '@ori/test-env/ports';
import { openRoom, type Room } from '@ori/test-env/room';
import { ServerProcess } from '@ori/test-env/server-process';
import { expect, test } from 'vitest';
import { INTERN_ID, openSignedInWorld } from '../../e2e/cli-world.ts';
import { connectClient, environmentOf, startRecorder } from './mcp-world.ts';

const isHere = spawnSync('python3', ['-c', 'import mcp.server.mcpserver']).status === 0;
if (!isHere) console.warn('Skipped: the package mcp 2 of Python is not installed (pip install mcp).');

/** The guard's example of a server. */
async function startServer(room: Room): Promise<string> {
  const example = new URL('../../../services/guard/examples/mcp_server.py', import.meta.url);
  const port = await freePort();
  const file = join(room.directory, 'server.py');
  await writeFile(file, (await readFile(example, 'utf8')).replace('8000', String(port)));
  await new ServerProcess({
    room,
    program: 'python3',
    arguments: [file],
    ready: /Uvicorn running/,
    farewell: 'KILL',
    environment: process.env as Record<string, string>,
  }).start();
  return `http://127.0.0.1:${port}`;
}

test.skipIf(!isHere)(
  'the tools of a server in Python see the person, and no message is taken twice',
  async () => {
    const { world, home } = await openSignedInWorld();
    await using room = await openRoom('ori-guard-mcp');
    const env = { GUARD_INTERN_ID: INTERN_ID, GUARD_DAEMON_URL: await startServer(room) };
    await using guarded = await openGuardWorld({ env, jwks: world.jwks });
    await using hop = await startRecorder(guarded.guard.url);
    await using client = await connectClient(environmentOf(home, world, hop.url));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami']);
    expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ text: 'acct_ada' }] });
    const statuses = await hop.repeated();
    // initialize, initialized, list, call.
    expect(statuses).toEqual(Array(4).fill('401 nonce_replayed'));
  },
);
