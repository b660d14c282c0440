import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ReceivedSpan, spansOf } from '../../env/otlp-receiver.ts';
import { freePort } from '../../env/ports.ts';
import { startPostgres } from '../../env/postgres.ts';
import { startPrometheus } from '../../env/prometheus.ts';
import { findPrometheus } from '../../env/prometheus-binaries.ts';
import { openRoom } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';
import { until } from '../../env/until.ts';
import { GATEWAY_PAGES } from '../../shipped/stack.ts';
import { callWith, signingOf, startShippedWorld } from '../../shipped/world.ts';
import { findTelemetry } from './binaries.ts';

/**
 * `node test/lab/operators/telemetry.ts`: what runs behind the shipped gateway sends traces to a real OpenTelemetry Collector,
 * and a real vmagent scrapes it with the shipped prometheus.yml, unedited, beside a Prometheus that does too. A row for each
 * promise; ends with 1 if one is broken. Two minutes, and half an hour the first time, to build both from Go modules.
 */
const PARENT_ID = '00f067aa0ba902b7';
const KEY = 'key-of-the-collector';
const rows: string[][] = [];

async function check(what: string, seen: () => Promise<unknown> | unknown): Promise<void> {
  const said = await Promise.resolve()
    .then(seen)
    .then(
      (value) => (value === true ? 'ok' : `FAILED: ${JSON.stringify(value)}`),
      (error: unknown) => `FAILED: ${String(error)}`,
    );
  rows.push([what, said]);
  console.log(`${said}  ${what}`);
}

const { collector, vmagent } = await findTelemetry();
const prometheusPrograms = findPrometheus();
if (prometheusPrograms === undefined) throw new Error('There is no Prometheus here: npm run setup');
await using stack = new AsyncDisposableStack();
const room = stack.use(await openRoom('ori-telemetry'));
const at = (name: string) => join(room.directory, name);

const otlp = await freePort();
await writeFile(
  at('collector.json'),
  JSON.stringify({
    extensions: { bearertokenauth: { token: KEY } },
    receivers: {
      otlp: {
        protocols: { http: { endpoint: `127.0.0.1:${otlp}`, auth: { authenticator: 'bearertokenauth' } } },
      },
    },
    exporters: { file: { path: at('traces.jsonl'), append: true, flush_interval: '100ms' } },
    service: {
      extensions: ['bearertokenauth'],
      pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
      telemetry: { metrics: { level: 'none' } },
    },
  }),
);
const collecting = new ServerProcess({
  room,
  program: collector,
  arguments: ['--config', at('collector.json')],
  ready: /Everything is ready/,
  farewell: 'KILL',
});
await collecting.start();
const traces = () => readFile(at('traces.jsonl'), 'utf8');
const spans = async (traceId: string): Promise<ReceivedSpan[]> =>
  (await traces())
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => spansOf(JSON.parse(line)))
    .filter((span) => span.traceId === traceId);

const environment = {
  OTLP_ENDPOINT: `http://127.0.0.1:${otlp}`,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${KEY}`,
  OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
};
const postgres = stack.use(await startPostgres());
const world = stack.use(await startShippedWorld({}, {}, environment, postgres));
const bearer = world.issuer.opaqueToken();
const BODY = '{"prompt":"hello"}';
async function traced(
  digit: string,
  question: ReturnType<typeof signingOf> | { path: string; bearer: string },
) {
  const traceId = digit.repeat(32);
  // Not sampled, by the caller's flag; and a state of its choice.
  const headers = { traceparent: `00-${traceId}-${PARENT_ID}-00`, tracestate: 'caller=chosen' };
  const answer = await world.client.ask({ ...question, headers });
  await until('the server span', async () => (await spans(traceId)).some(({ kind }) => kind === 2));
  const all = await spans(traceId);
  const request = all.find(({ kind }) => kind === 2);
  return {
    answer,
    traceId,
    all,
    request,
    below: all.filter(({ parentSpanId }) => parentSpanId === request?.spanId),
  };
}

const signed = await traced('a', signingOf(world, BODY, bearer));
const named = ({ below }: typeof signed) => below.map(({ name }) => name).toSorted();
await check('a call is signed', () => signed.answer.status === 200 || signed.answer.text);
await check(
  'its request is a server span below the caller’s, named after method and route, with status and request id',
  () => {
    const { service, parentSpanId, name, attributes } = signed.request ?? ({} as ReceivedSpan);
    const seen = [
      service,
      parentSpanId,
      name,
      attributes['http.response.status_code'],
      attributes['ori.request_id'],
    ];
    const wanted = [
      'ori-signer',
      PARENT_ID,
      'POST /v1/interns/{internId}/daemon/sign',
      200,
      signed.answer.headers['x-request-id'],
    ];
    return JSON.stringify(seen) === JSON.stringify(wanted) || seen;
  },
);
await check('Redis, PostgreSQL, the audit log and the issuer are spans below it', () => {
  const names = named(signed).join(', ');
  return ['redis ', 'postgresql ', 'audit ', 'issuer '].every((each) => names.includes(each)) || names;
});
await check(
  'every span of the trace is the request or below it',
  () => signed.all.length === signed.below.length + 1,
);
await check('the gateway’s log has the same trace id', async () =>
  (await world.gateway.accessLog()).includes(`"traceId":"${signed.traceId}"`),
);
const listed = await traced('b', { path: '/v1/interns', bearer: world.demo.apiKey });
await check('management’s is one too', () => listed.request?.name === 'GET /v1/interns' || listed.all);
const refused = await traced('c', signingOf(world, BODY, 'no-token-at-all'));
await check('a refusal’s has its reason', () => {
  const { attributes } = refused.request ?? ({} as ReceivedSpan);
  return (
    (attributes['http.response.status_code'] === 401 && /^\w+$/.test(String(attributes['error.type']))) ||
    attributes
  );
});
const called = callWith(signed.answer.json(), BODY);
await check('no token, path, body, user, intern, key or proof is in what was collected', async () => {
  const text = await traces();
  const { demo, managementKey } = world;
  const secrets = [
    bearer,
    'no-token-at-all',
    demo.apiKey,
    managementKey,
    KEY,
    demo.internId,
    demo.organizationId,
    'ada',
    'hello',
    '/api/invoke',
  ];
  secrets.push(
    ...Object.entries(called.headers)
      .filter(([name]) => /nonce|sig/.test(name))
      .map(([, value]) => value),
  );
  const found = secrets.filter((each) => text.includes(each));
  return (found.length === 0 && !text.includes('chosen')) || found;
});
await collecting.end('SIGKILL');
await check(
  'a call is signed without the collector',
  async () =>
    (
      await world.client.ask({
        ...signingOf(world, BODY, bearer),
        headers: { traceparent: `00-${'d'.repeat(32)}-${PARENT_ID}-01` },
      })
    ).status === 200,
);
await check('  and a log line counts the spans', async () => {
  const lost = () =>
    world.signers
      .flatMap(({ output }) => output)
      .filter((line) => line.includes('did not reach the OTLP collector'));
  await until('the line', async () => lost().length > 0);
  return (lost().every((line) => JSON.parse(line).spans > 0) && !lost().join().includes(KEY)) || lost();
});
await collecting.start();
await check(
  '  and spans arrive when it is back',
  async () => (await traced('e', signingOf(world, BODY, bearer))).request !== undefined,
);

// Prometheus and vmagent, with the same targets.
const targets = {
  signer: world.signers.map(({ opsAddress }) => opsAddress),
  management: [world.management.opsAddress],
  gateway: GATEWAY_PAGES.map((path) => world.gateway.secureUrl + path),
  certificates: [`localhost:${world.gateway.securePort}`],
};
const direct = stack.use(await startPrometheus(targets, world.gateway.certificate));
const blackbox = await (async () => {
  let found: string | undefined;
  await until('Prometheus has its targets', async () => {
    const { data } = (await (await fetch(`${direct.url}/api/v1/targets`)).json()) as {
      data: { activeTargets: { discoveredLabels: Record<string, string> }[] };
    };
    found = data.activeTargets.find(({ discoveredLabels: { job } }) => job === 'gateway')?.discoveredLabels[
      '__address__'
    ];
    return found !== undefined;
  });
  return found;
})();
const shipped = at('shipped');
await cp(join(import.meta.dirname, '../../../deploy/prometheus'), shipped, { recursive: true });
for (const [job, addresses] of Object.entries(targets)) {
  const isProbed = job === 'gateway' || job === 'certificates';
  const groups = isProbed
    ? addresses.map((address) => ({ targets: [blackbox], labels: { __param_target: address } }))
    : [{ targets: addresses }];
  await writeFile(join(shipped, `targets/${job}.yml`), JSON.stringify(groups));
}
const receiver = `127.0.0.1:${await freePort()}`;
await writeFile(at('receiver.yml'), '');
const receiving = new ServerProcess({
  room,
  program: prometheusPrograms.prometheus,
  arguments: [
    `--config.file=${at('receiver.yml')}`,
    '--web.enable-remote-write-receiver',
    `--storage.tsdb.path=${at('received')}`,
    `--web.listen-address=${receiver}`,
  ],
  ready: /Server is ready to receive web requests/,
  farewell: 'KILL',
});
await receiving.start();
const agentSaid: string[] = [];
const agent = new ServerProcess({
  room,
  program: vmagent,
  arguments: [
    `-promscrape.config=${join(shipped, 'prometheus.yml')}`,
    // Rules and Alertmanagers are not vmagent's.
    '-promscrape.config.strictParse=false',
    `-httpListenAddr=127.0.0.1:${await freePort()}`,
    `-remoteWrite.url=http://${receiver}/api/v1/write`,
    `-remoteWrite.tmpDataPath=${at('queue')}`,
  ],
  ready: /started vmagent/,
  farewell: 'KILL',
  hear: (line) => agentSaid.push(line),
});
await check('vmagent takes the shipped prometheus.yml', () => agent.start().then(() => true));

type Series = Record<string, string>;
async function series(url: string): Promise<Series[]> {
  const answer = await fetch(
    `${url}/api/v1/series?match[]=${encodeURIComponent('{job=~"signer|management|gateway|certificates"}')}`,
  );
  return ((await answer.json()) as { data: Series[] }).data;
}
const jobs = Object.keys(targets);
const up = async () => {
  const answer = await fetch(
    `http://${receiver}/api/v1/query?query=${encodeURIComponent('sum by (job) (up)')}`,
  );
  const { data } = (await answer.json()) as {
    data: { result: { metric: Series; value: [number, string] }[] };
  };
  return Object.fromEntries(data.result.map(({ metric, value }) => [metric['job'], Number(value[1])]));
};
await check('every target is up in what it forwarded, by the jobs that the rules name', async () => {
  const wanted = (seen: Record<string, number>) =>
    jobs.every((job) => seen[job] === targets[job as keyof typeof targets].length);
  await until('all are up', async () => wanted(await up())).catch(() => {});
  const seen = await up();
  return wanted(seen) || seen;
});
// What a scraper says of its scrapes is its own, and so is what rules make of them.
const comparable = (list: Series[]) =>
  new Set(
    list
      .filter(({ __name__ = '' }) => !/^(scrape_|ALERTS)|:/.test(__name__))
      .map((each) => JSON.stringify(Object.entries(each).toSorted())),
  );
await check('its series are those of Prometheus, with the same labels', async () => {
  let [theirs, differences]: [Set<string>, string[]] = [new Set(), []];
  const isEqual = async () => {
    theirs = comparable(await series(`http://${receiver}`));
    const ours = comparable(await series(direct.url));
    differences = [
      ...[...ours].filter((each) => !theirs.has(each)),
      ...[...theirs].filter((each) => !ours.has(each)),
    ];
    return differences.length === 0;
  };
  await until('they are equal', isEqual).catch(() => {});
  console.log(`    ${theirs.size} series`);
  return (differences.length === 0 && theirs.size > 100) || differences.slice(0, 10);
});
// The file's own job is that of a Prometheus beside it.
await check('and it has no complaint', () => {
  const complaints = agentSaid.filter(
    (line) => /\b(error|warn|fatal|panic)\b/i.test(line) && !line.includes('job="prometheus"'),
  );
  return complaints.length === 0 || complaints.slice(0, 5);
});
const failed = rows.filter(([, said]) => said !== 'ok').length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
