import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSignedInWorld } from '../../e2e/cli-world.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom, type Room } from '../../env/room.ts';
import { environmentOf, GATEWAYS } from '../../gateway/gateways.ts';
import { findProxy, startProxy } from '../../gateway/start-proxy.ts';
import { createRandom } from '../../lab/exactly-once/random.ts';
import {
  counted,
  makeCalls,
  ON_ANSWERS,
  ON_QUESTIONS,
  type Plan,
  startHostileServer,
  startPrograms,
  startProvingDaemon,
} from './hostile-server.ts';

// The hostile server with a real one beside it. Real servers end a cut answer as if it were whole, answer with a page of their own, and
// may ask again; what they pass on of an honest answer must still fit its proof.

const ATTACKS = Object.keys(ON_ANSWERS);
/** So that each is made once, and one call is left alone; twelve times as many make each by each program with each kind of answer. */
const CALLS = Number(process.env['CALLS'] ?? ATTACKS.length + 1);
const SEED = process.env['SEED'] ?? 'behind gateways';
const LANES = 8;
const { world, home } = await openSignedInWorld();

type Configure = (room: Room, port: number, daemonPort: number) => readonly string[];
/** The shortest configuration of nginx, which deploy/gateway/others has none of. */
const nginx: Configure = ({ directory }, port, daemonPort) => {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = folders.map((name) => `${name}_temp_path ${join(directory, name)};`).join(' ');
  const at = `proxy_http_version 1.1; proxy_buffering off; proxy_pass http://127.0.0.1:${daemonPort};`;
  const server = `server { listen 127.0.0.1:${port}; location / { ${at} } }`;
  const http = `http { access_log off; ${paths} ${server} }`;
  const path = join(directory, 'nginx.conf');
  writeFileSync(path, `daemon off; pid ${directory}/pid; error_log /dev/null; events {} ${http}`);
  return ['-p', directory, '-c', path];
};
const ALL: readonly { readonly name: string; readonly configure: Configure }[] = [
  { name: 'nginx', configure: nginx },
  ...GATEWAYS.map(({ name, args }) => ({
    name,
    configure: (({ directory }, ...ports) => args(...ports, directory)) satisfies Configure,
  })),
];

async function startGateway({ name, configure }: (typeof ALL)[number], program: string, target: string) {
  const room = await openRoom(`ori-${name}-hostile`);
  onTestFinished(() => room[Symbol.asyncDispose]());
  const [port, behind] = [await freePort(), Number(new URL(target).port)];
  const env = environmentOf(name, port, behind, room.directory);
  await startProxy(room, { program, args: configure(room, port, behind), env, port });
  return `http://127.0.0.1:${port}`;
}

/** Every attack in turn; of the calls in between neither the answer nor a question is touched. */
const attackOn = (n: number): string | undefined => ATTACKS[n % (ATTACKS.length + 1)];
const plan: Plan = (n, isQuestion, random) => {
  if (!isQuestion || attackOn(n) === undefined) return attackOn(n);
  return random.chance(0.5) ? undefined : random.pick(Object.keys(ON_QUESTIONS));
};

it.each(ALL.flatMap((gateway) => ['behind', 'in front of'].map((where) => ({ ...gateway, where }))))(
  `a hostile server $where $name: of ${CALLS} calls none is carried out twice, and each answer that is given is the daemon's`,
  { timeout: 7_200_000 },
  async ({ where, ...gateway }) => {
    const program = findProxy(gateway.name);
    if (program === undefined) return;
    await using daemon = await startProvingDaemon(world);
    const random = createRandom(`${SEED} ${where} ${gateway.name}`);
    const target = where === 'behind' ? daemon.url : await startGateway(gateway, program, daemon.url);
    await using hostile = await startHostileServer(target, random, plan);
    const at = where === 'behind' ? await startGateway(gateway, program, hostile.url) : hostile.url;
    await using programs = await startPrograms(home, at);
    const ends = await makeCalls(CALLS, LANES, programs, daemon, hostile);
    console.log(
      `SEED=${SEED}, ${where} ${gateway.name}:`,
      counted(ends.map(({ n, end, times }) => `${attackOn(n) ?? 'untouched'}: ${end}, carried out ${times}`)),
    );
    expect(ends.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
  },
);
