import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { keepAnswers } from '@ori/verifier/answers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOri } from '../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, startCliWorld } from '../e2e/cli-world.ts';
import { startCuttingHop } from '../env/cutting-hop.ts';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { environmentOf, GATEWAYS } from './gateways.ts';
import { type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';
import { isSignable, PATH_FORMS } from './path-forms.ts';
import { RAW_CASES } from './raw-cases.ts';
import { findProxy, startProxy } from './start-proxy.ts';
import { expectStream } from './stream.ts';

const BODY = '{"prompt":"hello"}';
const TYPE = ['Content-Type', 'application/json'] as const;

describe.each(GATEWAYS)('$name in front of a daemon', ({ name, args, check, keeps, refuses, looksLate }) => {
  const program = findProxy(name);
  const stack = new AsyncDisposableStack();
  let daemon: JudgingDaemon;
  let port: number;
  let env: NodeJS.ProcessEnv;
  let run: readonly string[];

  beforeAll(async () => {
    if (program === undefined) return;
    daemon = stack.use(await startJudgingDaemon());
    const room = stack.use(await openRoom(`ori-${name}`));
    port = await freePort();
    env = environmentOf(name, port, daemon.port, room.directory);
    run = args(port, daemon.port, room.directory);
    await startProxy(room, { program, args: run, env, port });
    daemon.takeArrivals();
  });
  afterAll(async () => {
    await stack.disposeAsync();
    if (program !== undefined)
      expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => 'ended')).toBe('ended');
  });

  it.skipIf(program === undefined).each([0, 20, 200])(
    'has a call whose answer is lost behind it, after %d bytes, asked for and carried out once',
    async (bytes) => {
      await using world = await startCliWorld();
      await using home = await world.newSignedIn();
      let ran = 0;
      const handler = (_req: IncomingMessage, res: ServerResponse) => {
        ran += 1;
        res.end(`paid ${'x'.repeat(500)}`);
      };
      await using losing = await guarded(world, handler, { answers: keepAnswers() });
      let isLost = false;
      const lose = (head: string) => {
        if (isLost || !head.startsWith('POST /api/pay')) return undefined;
        isLost = true;
        return { answer: bytes };
      };
      await using hop = await startCuttingHop(() => Number(new URL(losing.url).port), lose);
      await using room = await openRoom(`ori-${name}-losing`);
      const at = await freePort();
      await startProxy(room, {
        program: program ?? '',
        args: args(at, hop.port, room.directory),
        env: environmentOf(name, at, hop.port, room.directory),
        port: at,
      });
      // Caddy would use the connection of the first request again, whose answer the hop passes on.
      const open = () => new Promise((resolve) => hop.server.getConnections((_, count) => resolve(count)));
      await expect.poll(open).toBe(0);
      const daemonUrl = `http://127.0.0.1:${at}`;
      const call = ['call', INTERN_ID, '/api/pay', '--data', '{}', '--timeout', '20', '--daemon', daemonUrl];
      const { exit, stdout, stderr } = await runOri(home, call);
      expect([exit, stdout.length, ran]).toEqual([0, 505, 1]);
      expect(stderr).toContain('asking the daemon for it');
    },
  );

  const sign = (path: string) => [...Object.entries(daemon.signer.sign({ path, body: BODY })), TYPE];

  it.skipIf(program === undefined || check === undefined)(
    'starts with its own check of the configuration',
    () => void execFileSync(program ?? '', check?.(run) ?? [], { env, stdio: 'pipe' }),
  );

  it.skipIf(program === undefined)('forwards a path byte for byte, or refuses it', async () => {
    const passed: string[] = [];
    for (const { target } of PATH_FORMS) {
      const path = isSignable(target) ? target : '/';
      const reply = await askRaw(port, requestBytes(`POST ${target} HTTP/1.1`, sign(path), BODY));
      const arrived = daemon.takeArrivals();
      for (const { target: at, verdict } of arrived) {
        if (verdict === 'accepted') expect(at).toBe(path);
        if (verdict === 'accepted') passed.push(at);
      }
      if (refuses?.includes(target)) expect(arrived).toEqual([]);
      if (isSignable(target) && arrived.length > 0 && keeps.test(target))
        expect([reply.status, target]).toEqual([200, target]);
    }
    expect(passed).toEqual(expect.arrayContaining(['/api//invoke', '/api%2Finvoke']));
    expect(passed.length).toBeGreaterThan(20);
  });

  it.skipIf(program === undefined)(
    'keeps the host, and closes an idle connection before Node does, so that no call meets its end',
    async () => {
      const used = once(daemon.server, 'request');
      await askRaw(port, requestBytes('POST /api/invoke HTTP/1.1', sign('/api/invoke'), BODY));
      const [{ socket, headers }] = (await used) as [IncomingMessage];
      expect(headers.host).toBe('localhost');
      if (!socket.closed) await once(socket, 'close');
      // HAProxy has the daemon close it after the answer.
      expect(headers.connection === 'close' || socket.readableEnded).toBe(true);
    },
  );

  it.skipIf(program === undefined)('passes on a stream as it comes, and the end of its client', () =>
    expectStream(daemon, port, looksLate),
  );

  it.skipIf(program === undefined)('accepts no smuggled request, and none twice', async () => {
    await Promise.all(
      RAW_CASES.map(async ({ bytes }, index) => {
        const [path, elsewhere] = [`/api/case-${index}`, `/api/hidden-${index}`];
        const proof = Object.entries(daemon.signer.sign({ path, body: BODY }));
        const lines = [...proof, TYPE].map(([header, value]) => `${header}: ${value}\r\n`).join('');
        const hidden = requestBytes(`POST ${elsewhere} HTTP/1.1`, sign(elsewhere), BODY);
        await askRaw(port, bytes({ path, head: lines, body: BODY, hidden, proof }));
      }),
    );
    const accepted = daemon.takeArrivals().filter(({ verdict }) => verdict === 'accepted');
    expect(accepted.filter(({ target }) => target.startsWith('/api/hidden'))).toEqual([]);
    expect(new Set(accepted.map(({ target }) => target)).size).toBe(accepted.length);
  });
});
