import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createAnswerKey } from '@ori/proof/answer-proof';
import { keepAnswers } from '@ori/verifier/answers';
import { expect, it, onTestFinished } from 'vitest';
import { runOri } from '../../e2e/cli-in-process.ts';
import { guarded, INTERN_ID, openSignedInWorld } from '../../e2e/cli-world.ts';
import { startCuttingHop } from '../../env/cutting-hop.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom, type Room } from '../../env/room.ts';
import { environmentOf, GATEWAYS } from '../../gateway/gateways.ts';
import { findProxy, startProxy } from '../../gateway/start-proxy.ts';
import { createRandom } from '../../lab/exactly-once/random.ts';

// Answers that are cut behind real servers: some end them as if they were whole, or with a text of their own.
const CALLS = Number(process.env['CALLS'] ?? 2);
const SEED = process.env['SEED'] ?? 'behind gateways';
const { world, home } = await openSignedInWorld();
const key = randomBytes(32);
Object.assign(world.jwks, { 'ori.answers': [{ x: createAnswerKey(key).x }] });

type Kind = 'JSON' | 'stream';
const textOf = (kind: Kind) =>
  kind === 'JSON'
    ? JSON.stringify({ paid: 7, receipt: 'x'.repeat(900) })
    : [1, 2, 3].map((n) => `data: ${n} ${'x'.repeat(300)}\n\n`).join('');

type Configure = (room: Room, port: number, daemonPort: number) => readonly string[];
const file = ({ directory }: Room, text: string) => {
  const path = join(directory, 'gateway.conf');
  writeFileSync(path, text);
  return path;
};
/** The shortest configuration of those that deploy/gateway/others has none of. */
const OTHERS: readonly { readonly name: string; readonly configure: Configure }[] = [
  {
    name: 'nginx',
    configure: (room, port, daemonPort) => {
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const paths = folders.map((name) => `${name}_temp_path ${join(room.directory, name)};`).join(' ');
      const at = `proxy_http_version 1.1; proxy_buffering off; proxy_pass http://127.0.0.1:${daemonPort};`;
      const server = `server { listen 127.0.0.1:${port}; location / { ${at} } }`;
      const http = `http { access_log off; ${paths} ${server} }`;
      const text = `daemon off; pid ${room.directory}/pid; error_log /dev/null; events {} ${http}`;
      return ['-p', room.directory, '-c', file(room, text)];
    },
  },
];

const ALL = [
  ...OTHERS,
  ...GATEWAYS.map(({ name, args }) => ({
    name,
    configure: ({ directory }: Room, port: number, daemonPort: number) => args(port, daemonPort, directory),
  })),
];

it.each(ALL)(
  `behind $name, ${CALLS} cut answers of each kind are whole, or told to be lost`,
  {
    timeout: 600_000,
  },
  async ({ name, configure }) => {
    const program = findProxy(name);
    if (program === undefined) return;
    const random = createRandom(`${SEED} ${name}`);
    let ran = 0;
    let kind: Kind = 'JSON';
    const handler = (_req: IncomingMessage, res: ServerResponse) => {
      ran += 1;
      const text = textOf(kind);
      res.setHeader('connection', 'close');
      res.setHeader('content-type', kind === 'JSON' ? 'application/json' : 'text/event-stream');
      if (kind === 'JSON') return res.end(text);
      for (const event of text.split(/(?<=\n\n)/)) res.write(event);
      return res.end();
    };
    await using daemon = await guarded(world, handler, { answers: keepAnswers({ key }) });
    let isCut = false;
    await using hop = await startCuttingHop(
      () => Number(new URL(daemon.url).port),
      (head) => {
        if (isCut || !head.startsWith('POST /api/pay')) return undefined;
        isCut = true;
        return { answer: random.below(1300) };
      },
    );
    const room = await openRoom(`ori-${name}-cut`);
    onTestFinished(() => room[Symbol.asyncDispose]());
    const port = await freePort();
    const env = environmentOf(name, port, hop.port, room.directory);
    await startProxy(room, { program, args: configure(room, port, hop.port), env, port });
    const ends: string[] = [];
    for (let n = 0; n < 2 * CALLS; n += 1) {
      kind = n % 2 === 0 ? 'JSON' : 'stream';
      isCut = false;
      ran = 0;
      const at = `http://127.0.0.1:${port}`;
      const args = ['call', INTERN_ID, '/api/pay', '--data', '{}', '--daemon', at, '--timeout', '8'];
      const { exit, stdout } = await runOri(home, args);
      const end =
        exit === 0 ? (stdout === textOf(kind) ? 'whole' : 'half') : exit === 9 ? 'told' : `exit ${exit}`;
      ends.push(`${end}, carried out ${ran}`);
    }
    const counted = Object.fromEntries(
      [...new Set(ends)].map((end) => [end, ends.filter((one) => one === end).length]),
    );
    console.log(name, hop.cuts(), 'cuts', counted);
    expect(ends.filter((end) => !/^(whole|told), carried out [01]$/.test(end))).toEqual([]);
  },
);
