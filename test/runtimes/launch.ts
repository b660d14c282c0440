import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { JWKS_URL, NEXT, PROGRAMS, RUNTIMES, WORKERS } from './setup.ts';

// `node launch.ts RUNTIME ADAPTER INTERN_ID JWKS_URL` becomes a daemon, which prints its address or its port.

const WORKERD = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .daemon),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const daemon :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-06-01",
  bindings = [(name = "GREETING", text = "hello")BINDINGS],
);
`;

/** What replaces this process: an ended launcher would leave its child behind. */
async function commandOf(runtime: string, adapter: string, internId: string, jwksUrl: string) {
  if (runtime === 'workerd') {
    const code = await readFile(join(WORKERS, 'worker.mjs'), 'utf8');
    const folder = await mkdtemp(join(WORKERS, 'worker-'));
    await writeFile(join(folder, 'worker.mjs'), code.replace(JWKS_URL, jwksUrl));
    const { ANSWER_KEY } = process.env;
    const bindings = ANSWER_KEY === undefined ? '' : `, (name = "ANSWER_KEY", text = "${ANSWER_KEY}")`;
    await writeFile(join(folder, 'config.capnp'), WORKERD.replace('BINDINGS', bindings));
    const require = createRequire(join(RUNTIMES, 'package.json'));
    const { default: workerd } = createRequire(require.resolve('miniflare'))('workerd');
    return [workerd, 'serve', '--control-fd=1', join(folder, 'config.capnp')];
  }
  const program = PROGRAMS[runtime] ?? [];
  if (adapter !== 'next') return [...program, join(RUNTIMES, 'daemon.mjs'), adapter, internId, jwksUrl];
  return [...program, NEXT, 'start', join(RUNTIMES, 'next'), '--hostname', '127.0.0.1', '--port', '0'];
}

const [runtime = '', adapter = '', internId = '', jwksUrl = ''] = process.argv.slice(2);
const command = await commandOf(runtime, adapter, internId, jwksUrl);
const settings = { INTERN_ID: internId, JWKS_URL: jwksUrl, NEXT_TELEMETRY_DISABLED: '1' };
process.execve?.(command[0] ?? '', command, { ...process.env, ...settings });
