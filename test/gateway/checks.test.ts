import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GuardWorld, headerOf, openGuardWorld } from '../env/guard-world.ts';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { isSignable, PATH_FORMS } from './path-forms.ts';
import { RAW_CASES } from './raw-cases.ts';
import { findProxy, startProxy } from './start-proxy.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway/others');
const read = (file: string) => readFileSync(join(SHIPPED, file), 'utf8');
const BODY = '{"prompt":"hello"}';
const CALL = { path: '/a', body: BODY, user: 'user_ada', lines: 'Connection: close\r\n' };
const BYTES_MAX = 1_048_576;

interface Ports {
  readonly port: number;
  readonly daemon: string;
  readonly guard: string;
}

interface Proxy {
  readonly name: string;
  /** The mode of the guard that it asks. */
  readonly mode: string;
  /** Its shipped configuration, and what has it ask the guard. */
  readonly configuration: (ports: Ports) => string;
  readonly args: (file: string, port: number) => readonly string[];
}

/** The text with these edits; fails if there is nothing to edit, as after a change of what is shipped. */
function edited(text: string, ...edits: readonly (readonly [from: string, to: string])[]): string {
  return edits.reduce((now, [from, to]) => {
    expect(now).toContain(from);
    return now.replaceAll(from, to);
  }, text);
}

const FILTER = `
                  - name: envoy.filters.http.ext_authz
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
                      allowed_headers: { patterns: [{ safe_regex: { regex: .* } }] }
                      with_request_body: { max_request_bytes: ${BYTES_MAX}, allow_partial_message: false }
                      http_service:
                        server_uri: { uri: http://guard, cluster: guard, timeout: 10s }
                        authorization_response:
                          allowed_upstream_headers: { patterns: [{ prefix: x-ori-verified- }] }
                          allowed_client_headers: { patterns: [{ safe_regex: { regex: .* } }] }`;

const CLUSTER = `
    - name: guard
      connect_timeout: 5s
      load_assignment:
        cluster_name: guard
        endpoints:
          - lb_endpoints:
              - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: GUARD } } }`;

const MIDDLEWARE = `
  middlewares:
    guard:
      forwardAuth:
        address: http://GUARD/
        forwardBody: true
        maxBodySize: ${BYTES_MAX}
        authResponseHeadersRegex: ^X-Ori-Verified-`;

const PROXIES: readonly Proxy[] = [
  {
    name: 'envoy',
    mode: 'ext_authz',
    configuration: ({ port, daemon, guard }) =>
      edited(
        read('envoy.yaml'),
        ['8443', String(port)],
        ['8000', new URL(`http://${daemon}`).port],
        ['http_filters:', `http_filters:${FILTER}`],
        ['\n  clusters:', `\n  clusters:${CLUSTER.replace('GUARD', new URL(`http://${guard}`).port)}`],
      ),
    args: (file) => ['--use-dynamic-base-id', '--config-path', file],
  },
  {
    name: 'traefik',
    mode: 'forward_auth',
    configuration: ({ daemon, guard }) =>
      edited(
        read('traefik.yaml'),
        ['      service: daemon\n', '      service: daemon\n      middlewares: [guard]\n'],
        ['\n  services:', `${MIDDLEWARE.replace('GUARD', guard)}\n  services:`],
        ['{{ env "ORI_DAEMON" }}', daemon],
      ),
    args: (file, port) => [
      `--providers.file.filename=${file}`,
      `--entryPoints.daemon.address=127.0.0.1:${port}`,
      '--entryPoints.daemon.http.sanitizePath=false',
    ],
  },
];

describe.each(PROXIES)('$name, which asks a guard', ({ name, mode, configuration, args }) => {
  const program = findProxy(name);
  const stack = new AsyncDisposableStack();
  let world: GuardWorld;
  let port: number;

  beforeAll(async () => {
    if (program === undefined) return;
    world = stack.use(await openGuardWorld({ env: { GUARD_MODE: mode } }));
    const room = stack.use(await openRoom(`ori-check-${name}`));
    port = await freePort();
    const file = join(room.directory, 'proxy.yaml');
    const { host: daemon } = new URL(world.environment.GUARD_DAEMON_URL);
    await writeFile(file, configuration({ port, daemon, guard: `127.0.0.1:${world.port}` }));
    const env = { PATH: process.env['PATH'], HOME: room.directory };
    await startProxy(room, { program, args: args(file, port), env, port });
  });
  afterAll(() => stack.disposeAsync());

  /** Sends a signed call, and what reached the daemon, which has to be that call, of that person. */
  async function call(proof: typeof CALL, target = proof.path) {
    const before = world.seen.length;
    const bytes = world.signed(proof).replace(` ${proof.path} `, () => ` ${target} `);
    const { status, body } = await askRaw(port, bytes);
    const seen = world.seen.slice(before);
    expect(seen.map(({ url }) => url)).toEqual(status === 200 ? [target] : []);
    for (const one of seen) {
      expect(one.body.toString()).toBe(proof.body);
      expect(headerOf(one, 'x-ori-verified-user')).toBe('user_ada');
    }
    return { status, body };
  }

  it.skipIf(program === undefined)('passes on a path as it was signed, or refuses it', async () => {
    const passed: string[] = [];
    for (const { target } of PATH_FORMS) {
      const path = isSignable(target) ? target : '/';
      if ((await call({ ...CALL, path }, target)).status === 200) passed.push(target);
    }
    expect(passed).toEqual(expect.arrayContaining(['/api//invoke', '/api%2Finvoke']));
    expect(passed.length).toBeGreaterThan(20);
  });

  it.skipIf(program === undefined)('passes on a whole body, and none that is too long', async () => {
    expect((await call({ ...CALL, body: 'x'.repeat(BYTES_MAX) })).status).toBe(200);
    expect([401, 413]).toContain((await call({ ...CALL, body: 'x'.repeat(BYTES_MAX + 1) })).status);
  });

  it.skipIf(program === undefined)('passes on no name that a client gives itself', async () => {
    for (const header of ['x-ori-verified-user', 'X_Ori_Verified_User', 'x.ori.verified-user'])
      expect((await call({ ...CALL, lines: `${CALL.lines}${header}: eve\r\n` })).status).toBeOneOf([
        400, 401,
      ]);
    const elsewhere = 'X-Forwarded-Method: PUT\r\nX-Forwarded-Uri: /b\r\n';
    expect((await call({ ...CALL, lines: CALL.lines + elsewhere })).status).toBe(200);
    expect((await call({ ...CALL, lines: 'Connection: close, x-ori-verified-user\r\n' })).status).toBe(200);
  });

  it.skipIf(program === undefined)('passes on no smuggled request, and none twice', async () => {
    const before = world.seen.length;
    const proofOf = (path: string) =>
      [...world.proofLines({ ...CALL, path }).matchAll(/(.*): (.*)\r\n/g)].map(
        ([, header = '', value = '']) => [header, value] as const,
      );
    const type = ['Content-Type', 'application/json'] as const;
    await Promise.all(
      RAW_CASES.map(async ({ bytes }, index) => {
        const [path, elsewhere] = [`/api/case-${index}`, `/api/hidden-${index}`];
        const proof = proofOf(path);
        const head = [...proof, type].map(([header, value]) => `${header}: ${value}\r\n`).join('');
        const hidden = requestBytes(`POST ${elsewhere} HTTP/1.1`, [...proofOf(elsewhere), type], BODY);
        await askRaw(port, bytes({ path, head, body: BODY, hidden, proof }));
      }),
    );
    const urls = world.seen.slice(before).map(({ url }) => url);
    expect(urls.filter((url) => url?.startsWith('/api/hidden'))).toEqual([]);
    expect(new Set(urls).size).toBe(urls.length);
  });
});
