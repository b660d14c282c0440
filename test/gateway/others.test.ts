import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../env/ports.ts';
import { findProgram, openRoom, type Room } from '../env/room.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';
import { isSignable, PATH_FORMS } from './path-forms.ts';
import { RAW_CASES } from './raw-cases.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway/others');
const BODY = '{"prompt":"hello"}';
const TYPE = ['Content-Type', 'application/json'] as const;

const GATEWAYS = [
  {
    name: 'haproxy',
    args: ['-f', join(SHIPPED, 'haproxy.cfg')],
    listen: (port: number) => `127.0.0.1:${port}`,
    keeps: /^/,
  },
  {
    name: 'caddy',
    args: ['run', '--adapter', 'caddyfile', '--config', join(SHIPPED, 'Caddyfile')],
    listen: (port: number) => `http://:${port}`,
    // Go percent-encodes what RFC 3986 does not allow in a path.
    keeps: /^[\w\-./~%:@!$&'()*+,;=]*$/,
  },
] as const;

for (const { name } of GATEWAYS) {
  if (findProgram(name, ['/usr/sbin', '/usr/bin']) === undefined)
    console.warn(`No ${name} on this machine: its configuration is not tested.`);
}

async function isUp(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    const settle = (up: boolean) => {
      socket.destroy();
      resolve(up);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

describe.each(GATEWAYS)('$name in front of a daemon', ({ name, args, listen, keeps }) => {
  const program = findProgram(name, ['/usr/sbin', '/usr/bin']);
  const stack = new AsyncDisposableStack();
  let daemon: JudgingDaemon;
  let room: Room;
  let port: number;

  beforeAll(async () => {
    if (program === undefined) return;
    daemon = stack.use(await startJudgingDaemon());
    room = stack.use(await openRoom(`ori-${name}`));
    port = await freePort();
    const env = {
      PATH: process.env['PATH'],
      HOME: room.directory,
      ORI_LISTEN: listen(port),
      ORI_DAEMON: daemon.address,
    };
    const child = spawn(program, args, { env, cwd: room.directory, stdio: 'ignore' });
    stack.defer(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null) await once(child, 'close');
    });
    while (!(await isUp(port))) if (child.exitCode !== null) throw new Error(`${name} ended`);
  });
  afterAll(() => stack.disposeAsync());

  const sign = (path: string) => [...Object.entries(daemon.signer.sign({ path, body: BODY })), TYPE];

  it.skipIf(program === undefined)('starts with its own check of the configuration', () => {
    const env = { HOME: room.directory, ORI_LISTEN: listen(port), ORI_DAEMON: daemon.address };
    const check = name === 'haproxy' ? ['-c', ...args] : ['validate', ...args.filter((arg) => arg !== 'run')];
    execFileSync(program ?? '', check, { env, stdio: 'pipe' });
  });

  it.skipIf(program === undefined)('forwards a path byte for byte, or refuses it', async () => {
    const passed: string[] = [];
    for (const { target } of PATH_FORMS) {
      const path = isSignable(target) ? target : '/';
      const reply = await askRaw(port, requestBytes(`POST ${target} HTTP/1.1`, sign(path), BODY));
      const arrived = daemon.takeArrivals();
      for (const { target: at, verdict } of arrived) {
        if (verdict === 'accepted') expect(at).toBe(target);
        if (verdict === 'accepted') passed.push(at);
      }
      if (isSignable(target) && arrived.length > 0 && keeps.test(target))
        expect([reply.status, target]).toEqual([200, target]);
    }
    expect(passed).toContain('/api//invoke');
    expect(passed.length).toBeGreaterThan(20);
  });

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
