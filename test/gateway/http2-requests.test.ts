import { beforeAll, describe, expect, it } from 'vitest';
import { NGINX, startDaemonGateway } from '../env/gateway.ts';
import { askByFrames, type Field } from './http2-frames.ts';
import { type Arrival, startJudgingDaemon } from './judging-daemon.ts';
import { startRelay } from './relay.ts';

const BODY = '{"prompt":"hello"}';
const PATH = '/api/invoke';
const HIDDEN = 'POST /api/hidden HTTP/1.1';
const GOOD: readonly Field[] = [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':authority', 'localhost'],
  [':path', PATH],
  ['content-type', 'application/json'],
];
const replaced = (name: string, value: string): readonly Field[] =>
  GOOD.map(([own, was]) => [own, own === name ? value : was]);

/** Requests that HTTP/2 can express but HTTP/1.1, to which they are translated, cannot. */
const STRANGE: Record<string, readonly Field[]> = {
  'a line end in a value': [...GOOD, ['x-filler', `a\r\n\r\n${HIDDEN}\r\n\r\n`]],
  'a bare LF in a value': [...GOOD, ['x-filler', `a\nx-other: b\n\n${HIDDEN}\n\n`]],
  'a NUL in a value': [...GOOD, ['x-filler', 'a\u0000b']],
  'a line end in a name': [...GOOD, [`x\r\n\r\n${HIDDEN}\r\nx`, 'a']],
  'a colon in a name': [...GOOD, ['x-filler: a\r\nx-other', 'b']],
  'a space in a name': [...GOOD, ['x filler', 'a']],
  'a name in capitals': [...GOOD, ['X-Filler', 'a']],
  'an empty name': [...GOOD, ['', 'a']],
  'a path with a line end': replaced(':path', `${PATH} HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`),
  'a path with a space': replaced(':path', `${PATH} HTTP/1.1`),
  'a path without a slash': replaced(':path', 'api/invoke'),
  'a path that is a URL': replaced(':path', `https://localhost${PATH}`),
  'an empty path': replaced(':path', ''),
  'a path twice': [...GOOD, [':path', '/api/hidden']],
  'a method with a space': replaced(':method', 'POST /api/hidden HTTP/1.1\r\nHost: x\r\n\r\nPOST'),
  'a method in lower case': replaced(':method', 'post'),
  'an authority with a line end': replaced(':authority', `localhost\r\n\r\n${HIDDEN}\r\n\r\n`),
  'an authority with a path': replaced(':authority', 'localhost/api/hidden'),
  'Host besides the authority': [...GOOD, ['host', 'eu.api.example']],
  'a transfer coding': [...GOOD, ['transfer-encoding', 'chunked']],
  'a connection header': [...GOOD, ['connection', 'close, x-ori-invoke-user']],
  'a length that is too short': [...GOOD, ['content-length', '3']],
  'a length that is too long': [...GOOD, ['content-length', '300']],
  'two lengths': [...GOOD, ['content-length', String(BODY.length)], ['content-length', '3']],
  'an unknown pseudo-header': [...GOOD, [':protocol', 'websocket']],
  'a pseudo-header after the others': [...GOOD.slice(0, 3), ...GOOD.slice(4), [':path', PATH]],
  'no method': GOOD.slice(1),
};

describe.skipIf(NGINX === undefined)('a request over HTTP/2', () => {
  /** The bytes from the gateway to the daemon on each connection, by the name of the case whose proof they contain. */
  const sent = new Map<string, string[]>();
  let arrivals: Arrival[];
  let everything: string[];
  beforeAll(async () => {
    await using daemon = await startJudgingDaemon();
    await using relay = await startRelay(daemon.address);
    const nonces = new Map<string, string>();
    {
      await using gateway = await startDaemonGateway({ daemons: [relay.address] });
      for (const [name, fields] of Object.entries({ good: GOOD, ...STRANGE })) {
        const proof = daemon.signer.sign({ path: PATH, body: BODY });
        nonces.set(name, String(proof['x-ori-invoke-nonce']));
        await askByFrames(gateway, [...fields, ...Object.entries(proof)], BODY);
      }
    }
    // nginx has exited, so all remaining data is in the kernel.
    await relay.quiet();
    everything = relay.take();
    arrivals = daemon.takeArrivals();
    for (const [name, nonce] of nonces) {
      sent.set(
        name,
        everything.filter((bytes) => bytes.includes(nonce)),
      );
    }
  });

  it('is accepted if it is valid', () => {
    expect(sent.get('good')).toHaveLength(1);
    expect(arrivals.some(({ verdict }) => verdict === 'accepted')).toBe(true);
  });

  it('is the same request for the daemon as for the gateway', () => {
    expect(arrivals.filter(({ target }) => target !== PATH)).toEqual([]);
    for (const bytes of everything) {
      for (const line of bytes.match(/^\S+ \S+ HTTP\/\d\.\d\r?$/gm) ?? [])
        expect(line).toBe(`POST ${PATH} HTTP/1.1\r`);
    }
  });

  it.each(Object.keys(STRANGE))('results in at most one request for the daemon, with %s', (name) => {
    const connections = sent.get(name) ?? [];
    expect(connections.length).toBeLessThanOrEqual(1);
    for (const bytes of connections) {
      expect(bytes).not.toMatch(/^(?:x-other|upgrade):/im);
    }
  });
});
