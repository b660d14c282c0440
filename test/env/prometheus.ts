import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { findPrometheus, NO_PROMETHEUS } from './prometheus-binaries.ts';
import { openRoom, type Room } from './room.ts';
import { ServerProcess } from './server-process.ts';

const PROBED = ['gateway', 'certificates'];
const SHIPPED = join(import.meta.dirname, '../../deploy/prometheus');

/** A sample of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Rule {
  readonly name: string;
  readonly type: 'alerting' | 'recording';
  readonly query: string;
}

/**
 * Differs from the shipped files in the scrape targets, Prometheus's port, intervals of two seconds, and in that an
 * alert waits a second instead of minutes, OriNoTraffic and OriProofsStopped compare 10 s with the minute before, and an
 * alert that is over mutes others for 4 s. Other expressions, windows and thresholds are those that ship.
 *
 * @param targets `host:port` by job; for the jobs `gateway` and `certificates`, the addresses that a real blackbox exporter probes
 * @param certificate PEM that the exporter trusts
 */
export async function startPrometheus(
  targets: Readonly<Record<string, readonly string[]>>,
  certificate = '',
) {
  const binaries = findPrometheus();
  if (!binaries) throw new Error(NO_PROMETHEUS);
  const room = await openRoom('ori-prometheus');
  const port = await freePort();
  const folder = join(room.directory, 'conf');
  await cp(SHIPPED, folder, { recursive: true });
  await edit(join(folder, 'prometheus.yml'), [[/localhost:9090/, `127.0.0.1:${port}`]]);
  await hurry(folder);
  let exporter: string | undefined;
  for (const [job, addresses] of Object.entries(targets)) {
    if (PROBED.includes(job)) exporter ??= await startBlackbox(room, folder, certificate);
    const groups = PROBED.includes(job)
      ? addresses.map((address) => ({ targets: [exporter], labels: { __param_target: address } }))
      : [{ targets: addresses }];
    await writeFile(join(folder, `targets/${job}.yml`), JSON.stringify(groups));
  }
  const server = new ServerProcess({
    room,
    program: binaries.prometheus,
    arguments: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(room.directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ready: /Server is ready to receive web requests/,
    farewell: 'KILL',
  });
  await server.start().catch(async (error: unknown) => {
    await room[Symbol.asyncDispose]();
    throw error;
  });
  const url = `http://127.0.0.1:${port}`;
  async function ask<T>(path: string): Promise<T> {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { data: T; error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.data;
  }
  return {
    url,
    /** @throws with Prometheus's own message if the expression does not parse */
    async query(expression: string): Promise<Sample[]> {
      type Result = { result: { metric: Record<string, string>; value: [number, string] }[] };
      const { result } = await ask<Result>(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value: [, text] }) => ({ metric, value: Number(text) }));
    },
    async firing(): Promise<FiringAlert[]> {
      const { alerts } = await ask<{ alerts: (FiringAlert & { state: string })[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing');
    },
    async rules(): Promise<Rule[]> {
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
      return groups.flatMap((group) => group.rules);
    },
    [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
  };
}

/** A real Prometheus on loopback with the shipped configuration and rules, at shorter intervals. */
export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Runs the exporter with the shipped modules and one more trusted certificate. @returns its `host:port` */
async function startBlackbox(room: Room, folder: string, certificate: string): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const [modules, ca] = [join(folder, 'blackbox.yml'), join(folder, 'ca.pem')];
  await writeFile(ca, certificate);
  await edit(modules, [[/^( +)fail_if_not_ssl: true$/m, `$&\n$1tls_config: { ca_file: ${ca} }`]]);
  const server = new ServerProcess({
    room,
    program: findPrometheus()?.blackbox ?? '',
    arguments: [`--config.file=${modules}`, `--web.listen-address=${address}`],
    ready: /Listening on/,
    farewell: 'KILL',
  });
  await server.start();
  return address;
}

async function hurry(folder: string): Promise<void> {
  await edit(join(folder, 'prometheus.yml'), [
    [/^( {2,4}(?:scrape|evaluation)_(?:interval|timeout)): .*$/gm, '$1: 2s'],
  ]);
  await edit(join(folder, 'alerts.rules.yml'), [
    [/^( +for): .*$/gm, '$1: 1s'],
    [/\[5m\]\)\) == 0$/m, '[10s])) == 0'],
    [/\[1h\] offset 10m/, '[1m] offset 10s'],
    // At the start, nothing is up for a moment.
    [/(ALERTS\{.*\})\[\w+\]/g, '$1[4s]'],
    [/(issued_total)\[30s\]/g, '$1[10s]'],
    [/(issued_total)\[1h\] offset 5m/g, '$1[1m] offset 10s'],
    [/("4xx"\})\[30s\]/g, '$1[10s]'],
  ]);
  await edit(join(folder, 'slo.rules.yml'), [[/^( +interval): .*$/gm, '$1: 2s']]);
}

async function edit(file: string, changes: readonly (readonly [RegExp, string])[]): Promise<void> {
  let text = await readFile(file, 'utf8');
  for (const [what, by] of changes) {
    if (text.search(what) < 0) throw new Error(`${file} has nothing of ${what}`);
    text = text.replace(what, by);
  }
  await writeFile(file, text);
}
