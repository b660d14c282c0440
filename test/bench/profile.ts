import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { freePort } from '../env/ports.ts';
import { shipped } from '../env/programs.ts';
import { openSignStage } from './sign-stage.ts';

// `node test/bench/profile.ts [SECONDS]`: the signer's time per proof by cost centre and by function, next to that of the floor.

const WARM_PROOFS = 20_000;

/** Cost centres by source path. The first match counts. */
const COST_CENTRES: readonly (readonly [name: string, source: RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['waiting', /^\((idle|program|root)\)/],
  ['signatures and hashes', /^libs\/public\/proof|^@noble|noble|^node:internal\/crypto/],
  ['bearer and session', /^libs\/internal\/identity|authenticate|require-(scope|holder)/],
  ['body', /http\/src\/(body|json-scan)|read-(signing-body|request)|check-body-headers/],
  ['gate and keys', /store-cache|ttl-cache|signing-keys|lru-cache|pass-gate|choose-keys|unlock-key/],
  [
    'turns and nonce',
    /^libs\/internal\/turns\/src\/[a-z-]+\.ts|rate-limiter-flexible|adapters\/(turns|nonces)|throttle|reserve-nonce/,
  ],
  [
    'Redis client',
    /ioredis|redis-parser|standard-as-callback|denque|cluster-key-slot|^libs\/internal\/turns\/src\/redis\//,
  ],
  ['audit', /audit-file|stages\/record|^node:(fs|internal\/fs)/],
  ['log', /pino|sonic-boom|runtime\/src\/(log|scrub)|request-line|safe-stable/],
  ['metrics', /prom-client|runtime\/src\/metrics|signer-metrics/],
  ['Express', /node_modules\/(express|router|finalhandler|path-to-regexp|parseurl|depd|once|merge-desc)/],
  ['our HTTP', /^libs\/internal\/http|services\/signer\/src\/http|error-handler/],
  ['timers', /^node:internal\/timers|^node:timers/],
  ['promises', /^node:internal\/process\/(task_queues|promises)/],
  ['Node HTTP', /^node:(_http|http|internal\/http|internal\/url|internal\/validators)/],
  ['Node streams and sockets', /^node:/],
];

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The time of one side, in microseconds. */
class Costs {
  readonly byCentre = new Map<string, number>();
  readonly byFunction = new Map<string, number>();
  proofs = 0;
  readonly #map: SourceMap | undefined;

  constructor(map: SourceMap | undefined) {
    this.#map = map;
  }

  add({ nodes, samples, timeDeltas }: Profile, proofs: number): void {
    const sources = sourcesOf(nodes, this.#map);
    this.proofs += proofs;
    for (const [index, id] of samples.entries()) {
      const { source, name } = sources.get(id) ?? { source: '', name: '' };
      const microseconds = timeDeltas[index] ?? 0;
      const centre = COST_CENTRES.find(([, pattern]) => pattern.test(source))?.[0] ?? 'other';
      this.byCentre.set(centre, (this.byCentre.get(centre) ?? 0) + microseconds);
      const place = `${centre.padEnd(24)}  ${name} ${source}`;
      this.byFunction.set(place, (this.byFunction.get(place) ?? 0) + microseconds);
    }
  }
}

const seconds = Number(process.argv[2] ?? 10);
/** Alternating, because the speed of the machine varies. */
const ROUNDS = 4;
const ports = { ours: await freePort(), floor: await freePort() };
process.env['BENCH_SIGNER_FLAGS'] = `--inspect=127.0.0.1:${ports.ours}`;
process.env['BENCH_FLOOR_FLAGS'] = `--inspect=127.0.0.1:${ports.floor}`;

await using stage = await openSignStage({ remark: console.log });
const map = new SourceMap(JSON.parse(readFileSync(`${await shipped('signer/main')}.map`, 'utf8')));
const costs = { ours: new Costs(map), floor: new Costs(undefined) };
for (const side of ['ours', 'floor'] as const) {
  await stage.load(stage[side], { seconds: 2, connections: 2 });
  for (let proofs = 0; proofs < WARM_PROOFS; ) {
    proofs += (await stage.load(stage[side], { seconds: 2, connections: 32 })).answers;
  }
}
for (let round = 0; round < ROUNDS; round += 1) {
  for (const side of ['ours', 'floor'] as const) {
    const { profiler, close } = await openProfiler(ports[side]);
    await profiler('enable');
    await profiler('setSamplingInterval', { interval: 200 });
    await profiler('start');
    const { answers } = await stage.load(stage[side], { seconds: seconds / ROUNDS, connections: 32 });
    const { profile } = (await profiler('stop')) as { profile: Profile };
    close();
    costs[side].add(profile, answers);
  }
}
print(costs.ours, costs.floor);

/** The Profiler domain of the Chrome DevTools Protocol, through the process's own inspector. */
async function openProfiler(port: number) {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  let id = 0;
  return {
    close: () => socket.close(),
    async profiler(method: string, params: object = {}): Promise<unknown> {
      id += 1;
      socket.send(JSON.stringify({ id, method: `Profiler.${method}`, params }));
      const [message] = (await once(socket, 'message')) as [{ data: unknown }];
      return JSON.parse(String(message.data)).result;
    },
  };
}

/** The time of an engine function is attributed to its caller. */
function sourcesOf(nodes: readonly ProfileNode[], map: SourceMap | undefined) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sources = new Map<number, { source: string; name: string }>();
  const visit = (node: ProfileNode, parent: string) => {
    const { functionName: name, url, lineNumber, columnNumber } = node.callFrame;
    const entry = url.startsWith('file:') ? map?.findEntry(lineNumber, columnNumber) : undefined;
    const own: string = entry !== undefined && 'originalSource' in entry ? String(entry.originalSource) : url;
    const source = own !== '' ? own : name.startsWith('(') ? name : parent;
    sources.set(node.id, { source, name });
    for (const id of node.children ?? []) visit(byId.get(id) as ProfileNode, source);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, '(root)');
  return sources;
}

function print(ours: Costs, floor: Costs): void {
  console.log(`${ours.proofs} proofs, and ${floor.proofs} of the floor; µs of each\n\n    ours    floor`);
  const column = (cost = 0) => cost.toFixed(2).padStart(8);
  for (const [name, cost] of descending(ours.byCentre)) {
    console.log(column(cost / ours.proofs), column((floor.byCentre.get(name) ?? 0) / floor.proofs), name);
  }
  console.log();
  for (const [name, cost] of descending(ours.byFunction).slice(0, 70)) {
    console.log(column(cost / ours.proofs), column((floor.byFunction.get(name) ?? 0) / floor.proofs), name);
  }
}

function descending(costs: ReadonlyMap<string, number>): [name: string, cost: number][] {
  return [...costs].sort((a, b) => b[1] - a[1]);
}
