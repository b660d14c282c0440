import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { freePort } from '../env/ports.ts';
import { shipped } from '../env/programs.ts';
import { openSignStage } from './sign-stage.ts';

// `npm run profile [-- SECONDS]`: where the signer's CPU time goes, per proof, by cost centre and by function.

const WARM_PROOFS = 20_000;

/** Where in the source a cost belongs; the first that matches counts. */
const COST_CENTRES: readonly (readonly [name: string, source: RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['waiting', /^\((idle|program|root)\)/],
  ['signatures and hashes', /^libs\/proof|^@noble|noble|^node:internal\/crypto/],
  ['bearer and session', /^libs\/(identity|dpop)|authenticate|require-(scope|holder)/],
  ['body', /http\/src\/(body|json-scan)|read-(signing-body|request)|check-body-headers/],
  ['gate and keys', /store-cache|ttl-cache|signing-keys|lru-cache|pass-gate|choose-keys|unlock-key/],
  ['turns and nonce', /^libs\/turns|rate-limiter-flexible|adapters\/(turns|nonces)|throttle|reserve-nonce/],
  ['Redis client', /ioredis|redis-parser|standard-as-callback|denque|cluster-key-slot|^libs\/redis/],
  ['audit', /audit-file|stages\/record|^node:(fs|internal\/fs)/],
  ['log', /pino|sonic-boom|runtime\/src\/(log|scrub)|request-line|safe-stable/],
  ['metrics', /prom-client|runtime\/src\/metrics|signer-metrics/],
  ['Express', /node_modules\/(express|router|finalhandler|path-to-regexp|parseurl|depd|once|merge-desc)/],
  ['our HTTP', /^libs\/http|services\/signer\/src\/http|error-handler/],
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

const seconds = Number(process.argv[2] ?? 10);
const port = await freePort();
process.env['BENCH_SIGNER_FLAGS'] = `--inspect=127.0.0.1:${port}`;

await using stage = await openSignStage({ remark: console.log });
const { ours, load } = stage;
await load(ours, { seconds: 2, connections: 2 });
for (let proofs = 0; proofs < WARM_PROOFS; ) {
  proofs += (await load(ours, { seconds: 2, connections: 32 })).answers;
}
const { profiler, close } = await openProfiler(port);
await profiler('enable');
await profiler('setSamplingInterval', { interval: 200 });
await profiler('start');
const { answers } = await load(ours, { seconds, connections: 32 });
const { profile } = (await profiler('stop')) as { profile: Profile };
close();
const map = new SourceMap(JSON.parse(readFileSync(`${await shipped('signer/main')}.map`, 'utf8')));
report(profile, map, answers);

/** The Profiler domain of the Chrome DevTools Protocol, by the process's own inspector. */
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

function report({ nodes, samples, timeDeltas }: Profile, map: SourceMap, proofs: number): void {
  const sources = sourcesOf(nodes, map);
  const byCentre = new Map<string, number>();
  const byFunction = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const { source, name } = sources.get(id) ?? { source: '', name: '' };
    const microseconds = (timeDeltas[index] ?? 0) / proofs;
    const centre = COST_CENTRES.find(([, pattern]) => pattern.test(source))?.[0] ?? 'other';
    byCentre.set(centre, (byCentre.get(centre) ?? 0) + microseconds);
    const place = `${centre.padEnd(24)}  ${name} ${source}`;
    byFunction.set(place, (byFunction.get(place) ?? 0) + microseconds);
  }
  console.log(`${proofs} proofs; µs of each\n`);
  print(byCentre, 99);
  console.log();
  print(byFunction, 70);
}

/** A function of the engine counts for the one that called it. */
function sourcesOf(nodes: readonly ProfileNode[], map: SourceMap) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sources = new Map<number, { source: string; name: string }>();
  const visit = (node: ProfileNode, parent: string) => {
    const { functionName: name, url, lineNumber, columnNumber } = node.callFrame;
    const entry = url.startsWith('file:') ? map.findEntry(lineNumber, columnNumber) : undefined;
    const own: string = entry !== undefined && 'originalSource' in entry ? String(entry.originalSource) : url;
    const source = own !== '' ? own : name.startsWith('(') ? name : parent;
    sources.set(node.id, { source, name });
    for (const id of node.children ?? []) visit(byId.get(id) as ProfileNode, source);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root, '(root)');
  return sources;
}

function print(costs: ReadonlyMap<string, number>, most: number): void {
  const sorted = [...costs].sort((a, b) => b[1] - a[1]).slice(0, most);
  for (const [name, cost] of sorted) console.log(cost.toFixed(2).padStart(8), name);
}
