import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The attacker's knowledge and credentials. */
export interface Target {
  readonly port: number;
  readonly securePort: number;
  /** A valid token of an unknown subject. */
  readonly stranger: string;
  /** A member's token, an API key and a management key of the attacker's tenant. */
  readonly member: string;
  readonly apiKey: string;
  readonly managementKey: string;
  readonly internId: string;
}

/** One address, or a thousand, as reported by the load balancer in front of the gateway. */
export type Addresses = 'one' | 'thousand';

interface Means extends Target {
  readonly until: number;
  address(): string;
  /** Opens a connection that sends these bytes. The response is discarded, or with `deaf` not even read. */
  open(bytes: string | Buffer, options?: { deaf?: boolean; port?: number }): Socket;
  /** Repeats at this rate per second until the attack ends. */
  each(perSecond: number, act: () => void): Promise<void>;
}

type Attack = (means: Means) => Promise<void>;

const head = (means: Means, line: string, bearer: string, more = '') =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${means.address()}\r\nAuthorization: Bearer ${bearer}\r\n${more}`;
const end = 'Connection: close\r\n\r\n';
const sign = (means: Means, body: string, bearer?: string, id?: string) =>
  `${signHead(means, Buffer.byteLength(body), bearer, id)}${end}${body}`;
const write = (means: Means, body: string, line = 'POST /v1/guardrails') =>
  `${head(means, line, means.managementKey, 'Content-Type: application/json\r\n')}Content-Length: ${Buffer.byteLength(body)}\r\n${end}${body}`;
const get = (means: Means, path: string, bearer: string, more = '') =>
  `${head(means, `GET ${path}`, bearer, more)}${end}`;

const signHead = (means: Means, bytes: number, bearer = means.stranger, id = means.internId) =>
  `${head(means, `POST /v1/interns/${id}/daemon/sign`, bearer, 'Content-Type: application/json\r\n')}Content-Length: ${bytes}\r\n`;
/** Sends these bytes on a new connection, at this rate per second. */
const repeat =
  (perSecond: number, bytes: (means: Means) => string | Buffer, options?: { deaf?: boolean }): Attack =>
  (means) =>
    means.each(perSecond, () => means.open(bytes(means), options));

const proper = JSON.stringify({ bodySha256: '0'.repeat(64), route: { method: 'POST', path: '/api' } });
const blank = `${' '.repeat(1_000_000)}${proper}`;
const unknownNames = `{${Array.from({ length: 50_000 }, (_, at) => `"unknown${at}":0`).join()}}`;
const heavyPatterns = JSON.stringify({
  name: 'x',
  content_filters: Array.from({ length: 12 }, () => ({ pattern: 'a{2,1000}'.repeat(5), action: 'block' })),
});
const large = JSON.stringify({
  name: 'x',
  ignored_models: Array.from({ length: 900 }, (_, at) => `provider/${'model'.repeat(20)}-${at}`),
});
const jwt = (kid: string) =>
  `${Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid })).toString('base64url')}.e30.${'A'.repeat(86)}`;
const cursor = (text: string) => Buffer.from(text).toString('base64url');

/** Keeps this many slow connections open. */
async function trickle(means: Means, count: number, opening: () => string, piece: string): Promise<void> {
  const sockets = Array.from({ length: count }, () => means.open(opening()));
  while (Date.now() < means.until) {
    await pause(200);
    for (const socket of sockets) if (socket.writable) socket.write(piece);
  }
}

/** The attacks, by description. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'bodies that do not end': repeat(
    150,
    (means) => `${signHead(means, 1_040_000)}\r\n"${'x'.repeat(1_000_000)}`,
  ),
  'bodies of white space': repeat(20, (means) => sign(means, blank)),
  'slow bodies': (means) => trickle(means, 300, () => `${signHead(means, 100_000)}\r\n{`, ' '),
  'slow heads': (means) =>
    trickle(means, 300, () => 'GET /v1/byok HTTP/1.1\r\nHost: localhost\r\nX-A: ', 'a'),
  'requests without waiting': repeat(4, (means) =>
    `GET /v1/interns/${means.internId}/daemon/jwks.json HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${means.address()}\r\n\r\n`.repeat(
      500,
    ),
  ),
  'connections that do nothing': async (means) => {
    for (let count = 0; count < 1000; count += 1) means.open('');
    await pause(Math.max(0, means.until - Date.now()));
  },
  'connections that come and go': (means) => means.each(200, () => means.open('').end()),
  'half a handshake of TLS': (means) =>
    means.each(100, () => means.open(Buffer.from([22, 3, 1, 2, 0]), { port: means.securePort })),
  'what is no HTTP': repeat(100, () => randomBytes(200)),
  'requests that are given up': (means) =>
    means.each(100, () => {
      const socket = means.open(sign(means, proper, means.member));
      setTimeout(() => socket.resetAndDestroy(), 2);
    }),
  'answers that nobody reads': repeat(
    30,
    (means) => get(means, '/v1/guardrails?limit=100', means.managementKey),
    { deaf: true },
  ),
  'random opaque tokens': repeat(200, (means) => sign(means, proper, randomBytes(24).toString('base64url'))),
  'random key ids': repeat(150, (means) => sign(means, proper, jwt(randomUUID()))),
  'random API keys': repeat(150, (means) =>
    get(means, '/v1/byok', `sk-ori-v1-${randomBytes(32).toString('hex')}`),
  ),
  'many key sets': repeat(150, (means) =>
    get(means, `/v1/interns/int_${randomBytes(8).toString('hex')}/daemon/jwks.json`, 'x'),
  ),
  'two hundred at once': (means) =>
    means.each(1, () => {
      for (let count = 0; count < 200; count += 1) means.open(sign(means, proper, means.member));
    }),
  'a megabyte of unknown names': repeat(10, (means) => write(means, unknownNames)),
  'the largest patterns': repeat(10, (means) => write(means, heavyPatterns)),
  'large policies': repeat(15, (means) => write(means, large)),
  'large pages': repeat(15, (means) => get(means, '/v1/guardrails?limit=100', means.managementKey)),
  'forged cursors': repeat(100, (means) =>
    get(means, `/v1/interns?starting_after=${cursor('2026-02-30T00:00:00.000Z int_1')}`, means.apiKey),
  ),
};

/** Attacks that end before the gateway learns of an address. */
export const WITHOUT_ADDRESS: ReadonlySet<string> = new Set([
  'slow heads',
  'connections that do nothing',
  'connections that come and go',
  'half a handshake of TLS',
  'what is no HTTP',
]);

/** Runs one attack and releases everything when its time is up. */
export async function attack(name: string, target: Target, addresses: Addresses, ms: number): Promise<void> {
  const carryOut = ATTACKS[name];
  if (carryOut === undefined) throw new TypeError(`no attack is called ${JSON.stringify(name)}`);
  const until = Date.now() + ms;
  const sockets = new Set<Socket>();
  // A different address for each attack, so that the gateway does not refuse it because of the previous one.
  const single = `203.0.${randomInt(256)}.${randomInt(256)}`;
  let turn = 0;
  const means: Means = {
    ...target,
    until,
    address() {
      turn += 1;
      return addresses === 'one' ? single : `10.1.${(turn % 1000) >> 8}.${(turn % 1000) & 255}`;
    },
    open(bytes, { deaf = false, port = target.port } = {}) {
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      if (deaf) socket.pause();
      else socket.resume();
      socket.write(bytes);
      return socket;
    },
    async each(perSecond, act) {
      const begun = Date.now();
      for (let done = 0; Date.now() < until; await pause(20)) {
        for (const due = ((Date.now() - begun) / 1000) * perSecond; done < due; done += 1) act();
      }
    },
  };
  await carryOut(means);
  for (const socket of sockets) socket.destroy();
}
