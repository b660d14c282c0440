import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import process from 'node:process';
import { kubectl } from '../../env/kubectl.ts';
import { freePort } from '../../env/ports.ts';
import { openRoom } from '../../env/room.ts';
import { until } from '../../env/until.ts';
import type { findBinaries } from './binaries.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds
export type Item = any;

/** How a command ended. */
export interface Ended {
  readonly code: number;
  /** stdout and stderr. */
  readonly said: string;
}

const TOKEN = 'lab';

/**
 * etcd, the API server and the controllers on loopback. There is no kubelet: `settle` says of each pod that it runs, or of a job's
 * that it has succeeded.
 */
export async function startCluster(binaries: Awaited<ReturnType<typeof findBinaries>>) {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-cluster'));
  const at = (name: string) => join(room.directory, name);
  const start = (program: string, words: readonly string[]) => {
    const log = openSync(at(`${program.split('/').at(-1)}.log`), 'a');
    room.admit(spawn(program, words, { stdio: ['ignore', log, log] }), 'KILL');
  };
  const [client, peer, port, controllersPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const local = (number: number) => `http://127.0.0.1:${number}`;
  const etcd = {
    'data-dir': at('etcd'),
    'listen-client-urls': local(client),
    'advertise-client-urls': local(client),
    'listen-peer-urls': local(peer),
  };
  start(binaries.etcd, [...flags(etcd), '--unsafe-no-fsync']);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(at('accounts.pem'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await writeFile(at('tokens'), `${TOKEN},admin,1,system:masters\n`);
  const server = {
    'etcd-servers': local(client),
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'secure-port': port,
    'cert-dir': at('certificates'),
    'token-auth-file': at('tokens'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': at('accounts.pem'),
    'service-account-signing-key-file': at('accounts.pem'),
    'service-cluster-ip-range': '10.96.0.0/16',
    'authorization-mode': 'RBAC',
    'endpoint-reconciler-type': 'none',
  };
  start(binaries.apiserver, flags(server));
  let certificate = '';
  await until('the API server wrote its certificate', async () => {
    certificate = await readFile(at('certificates/apiserver.crt'), 'utf8');
    return true;
  });
  const kubeconfig = at('kubeconfig');
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority': at('certificates/apiserver.crt'),
  };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'lab', cluster }],
      users: [{ name: 'lab', user: { token: TOKEN } }],
      contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
      'current-context': 'lab',
    }),
  );

  function call(method: string, path: string, body?: object): Promise<Item> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/merge-patch+json' };
      const sent = request(
        { host: '127.0.0.1', port, path, method, headers, ca: certificate },
        async (answer) => {
          let text = '';
          for await (const chunk of answer) text += chunk;
          if (answer.headers['content-type']?.startsWith('application/json')) resolve(JSON.parse(text));
          else resolve({ text });
        },
      );
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }
  const list = async (path: string): Promise<Item[]> => (await call('GET', path)).items ?? [];
  await until('the API server is ready', async () => (await call('GET', '/readyz')).text === 'ok');
  const controllers = {
    kubeconfig,
    'service-account-private-key-file': at('accounts.pem'),
    'leader-elect': false,
    'secure-port': controllersPort,
    'bind-address': '127.0.0.1',
    'cert-dir': at('controllers'),
    'horizontal-pod-autoscaler-sync-period': '2s',
    'namespace-sync-period': '10s',
  };
  start(binaries.controllers, flags(controllers));

  const run = (program: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, KUBECONFIG: kubeconfig, ...env }, maxBuffer: 1 << 26 };
      execFile(program, words, options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, said: stdout + stderr }),
      );
    });

  /** In place of a kubelet: once for all pods. */
  async function settle(): Promise<void> {
    const ended = (pod: Item) => pod.metadata.ownerReferences?.[0]?.kind === 'Job';
    const pods = (await list('/api/v1/pods')).filter(({ status }) => status.phase === 'Pending');
    await Promise.all(
      pods.map((pod) => {
        const now = new Date().toISOString().replace(/\.\d+/, '');
        const ready = { type: 'Ready', status: ended(pod) ? 'False' : 'True', lastTransitionTime: now };
        const status = { phase: ended(pod) ? 'Succeeded' : 'Running', startTime: now, conditions: [ready] };
        const { namespace, name } = pod.metadata;
        return call('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, { status });
      }),
    );
  }
  const timer = setInterval(() => settle().catch(() => {}), 300);
  stack.defer(() => clearInterval(timer));
  const kube = (...words: string[]) => run(kubectl(), words);
  await until(
    'the accounts of a namespace are made',
    async () => (await kube('-n', 'default', 'get', 'serviceaccount', 'default')).code === 0,
  );
  const owned = stack.move();
  return {
    run,
    kube,
    list,
    call,
    directory: room.directory,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const flags = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);
