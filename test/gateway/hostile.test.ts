import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createIntern } from '@ori/administration/interns';
import { addMember } from '@ori/administration/members';
import { addSigningKey } from '@ori/administration/signing-keys';
import { addSubject, createUser } from '@ori/administration/users';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createDpopKey } from '@ori/test-env/dpop';
import { inLanes } from '@ori/test-env/in-lanes';
import { startWorld } from '@ori/test-env/world';
import { createLocalKeySet, createVerifier, type SignedRequest } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import { beforeEach, describe, expect, it, afterAll as onEnd, onTestFinished, test } from 'vitest';
import { runOri, startOri } from '../e2e/cli-in-process.ts';
import { makeOriHome } from '../e2e/cli-process.ts';
import { freePort } from '../env/ports.ts';
import { serve } from '../env/serve.ts';
import { createRandom, type Random } from '../lab/exactly-once/random.ts';

// A server in between on both hops, from the client to the signer and from the client to the daemon: it sees every
// request and sends what it likes. HOSTILE_SEED repeats a run.
const SEED = process.env['HOSTILE_SEED'] ?? randomUUID();
const SIGNING_MUTATIONS = 300;
const CALL_MUTATIONS = 1000;
const LANES = 8;

/** What a client sent on a hop; the parts that a server in between can exchange. */
interface Sent {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const flipped = (text: string, random: Random, by = 'Ab7 %"/\t'): string => {
  const at = random.below(text.length);
  const other = random.pick([...by].filter((one) => one !== text[at]));
  return text.slice(0, at) + other + text.slice(at + 1);
};

/** What one exchanges between two requests, or changes in one. Each leaves something else than either client sent. */
const MUTATIONS: Readonly<Record<string, (of: Sent, other: Sent, random: Random) => Sent>> = {
  'the body of another request': (of, other) => ({ ...of, body: other.body }),
  'the headers of another request': (of, other) => ({ ...of, headers: other.headers }),
  'one header of another request': (of, other, random) => {
    const at = 1 + 2 * random.below(of.headers.length / 2);
    const headers = of.headers.map((value, index) => (index === at ? (other.headers[at] ?? value) : value));
    return { ...of, headers };
  },
  'one header doubled': (of, other, random) => {
    const at = 2 * random.below(of.headers.length / 2);
    return { ...of, headers: [...of.headers, of.headers[at] ?? '', other.headers[at + 1] ?? ''] };
  },
  'the address of another request': (of, other) => ({ ...of, path: other.path }),
  'one character of the address': (of, _, random) => ({
    ...of,
    path: `/${flipped(of.path.slice(1), random, 'Ab7%~/')}`,
  }),
  'a query': (of) => ({ ...of, path: `${of.path}?a=1` }),
  'one character of the body': (of, _, random) => ({ ...of, body: flipped(of.body, random) }),
  'the end of the body': (of, _, random) => ({ ...of, body: of.body.slice(0, random.below(of.body.length)) }),
  'more body': (of) => ({ ...of, body: `${of.body}\n` }),
  'one character of a header': (of, _, random) => {
    const at = 1 + 2 * random.below(of.headers.length / 2);
    const headers = of.headers.map((value, index) => (index === at ? flipped(value, random) : value));
    return { ...of, headers };
  },
  'a header less': (of, _, random) => {
    const at = 2 * random.below(of.headers.length / 2);
    return { ...of, headers: of.headers.toSpliced(at, 2) };
  },
};
const NAMES = Object.keys(MUTATIONS);
const differs = (one: Sent, other: Sent) => JSON.stringify(one) !== JSON.stringify(other);

test('a server between client and signer gets no proof that the client of a bound session did not ask for', async () => {
  console.log(`HOSTILE_SEED=${SEED}`);
  const random = createRandom(`${SEED} signing`);
  let aheadMs = 0;
  await using world = await startWorld({ parts: { now: () => Date.now() + aheadMs, clocks: {} } });
  const { store, demo, baseUrl } = world;
  const sealer = parseKekRing(world.kekText);
  const { id: second } = await createIntern(store, { workspaceId: demo.workspaceId, name: 'second' });
  await addSigningKey(store, { internId: second, sealer });
  const key = await createDpopKey();
  const token = await world.token({ claims: { cnf: { jkt: key.thumbprint } } });
  const { origin } = new URL(baseUrl);
  const digest = () => Array.from({ length: 64 }, () => random.pick([...'0123456789abcdef'])).join('');
  let nonce = 'none';
  /** A request of the client, as the server in between gets it. */
  async function ask(at = origin, by = nonce): Promise<Sent> {
    const path = `/v1/interns/${random.pick([demo.internId, second])}/daemon/sign`;
    const route = { method: 'POST', path: `/api/${random.below(1e9)}` };
    const body = JSON.stringify({ bodySha256: digest(), route });
    const proof = await key.proof({ url: at + path, accessToken: token, nonce: by, content: body });
    return {
      path,
      headers: ['Authorization', `DPoP ${token}`, 'DPoP', proof, 'Content-Type', 'application/json'],
      body,
    };
  }
  const send = ({ path, headers, body }: Sent) => world.http.ask({ method: 'POST', path, headers, body });
  const renew = async () => {
    nonce = String((await send(await ask(origin, 'none'))).headers['dpop-nonce']);
  };
  await renew();
  let issued = (await world.audit()).split('\n').length;

  // What is the same as the client sent is the client's own; it is only sent once.
  const told = new Map<string, number>();
  let honest = 0;
  await inLanes(SIGNING_MUTATIONS, LANES, async (index) => {
    if (index % 150 === 149) await renew();
    const [own, other] = [await ask(), await ask()];
    const name = NAMES[index % NAMES.length] ?? '';
    const mutant = MUTATIONS[name]?.(own, other, random) ?? own;
    if (!differs(mutant, own) || !differs(mutant, other)) return;
    const { status } = await send(mutant);
    // What is not covered changes nothing that is signed: a query, a parameter of the media type.
    if (status === 200) {
      expect([name, signs(mutant)]).toEqual([name, signs(own)]);
      honest += 1;
    }
    told.set(`${status}`, (told.get(`${status}`) ?? 0) + 1);
    // It holds the request back, and sends it later: as it is, and then again.
    if (index % 25 === 0) {
      const late = await ask();
      expect((await send(late)).status).toBe(200);
      expect((await send(late)).status).toBe(401);
      honest += 1;
    }
  });
  console.log(`${SIGNING_MUTATIONS} changed signing requests got:`, Object.fromEntries(told));

  // Of another deployment that has the same key.
  expect((await send(await ask('https://other.example'))).status).toBe(401);
  // Cut at every byte of the body: nothing is issued, and the rest cannot be sent later.
  await inLanes(40, LANES, async (at) => {
    const cut = await ask();
    await sendCut(new URL(baseUrl), cut, at);
    const again = await send(cut);
    expect([at, again.status]).toEqual([at, 401]);
  });
  // Held back until its nonce is too old.
  const held = await Promise.all(Array.from({ length: 20 }, () => ask()));
  aheadMs = 90_000;
  for (const late of held) expect((await send(late)).status).toBe(401);

  issued = (await world.audit()).split('\n').length - issued;
  expect(issued).toBe(honest);
}, 600_000);

/** What the signer is asked to sign. */
const signs = ({ path, body }: Sent) => [path.split('?')[0], body];

/** Sends the head and a part of the body, ends, and resolves when the server has closed the connection. */
function sendCut({ hostname, port, host }: URL, { path, headers, body }: Sent, at: number): Promise<void> {
  const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...pairs,
    `Content-Length: ${body.length}`,
    '',
    '',
  ];
  const socket = connect({ host: hostname, port: Number(port) });
  socket.end(lines.join('\r\n') + body.slice(0, at));
  socket.resume();
  return new Promise((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve());
  });
}

test('a server between client and daemon gets nothing accepted but the call itself, once', async () => {
  const random = createRandom(`${SEED} call`);
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const signer = createTestSigner({ internId: 'int_7Qm2', now: clock });
  // Of another intern, and of another deployment with an intern of the same id.
  const others = [
    createTestSigner({ internId: 'int_other', now: clock }),
    createTestSigner({ internId: 'int_7Qm2', now: clock }),
  ];
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({
    internId: 'int_7Qm2',
    keys,
    replay: createTestReplayStore(),
    now: clock,
  });
  const call = (by = signer): Sent => {
    const path = `/api/${random.below(1e9)}`;
    const body = JSON.stringify({ prompt: random.below(1e9) });
    const headers = Object.entries(by.sign({ path, body, user: random.pick(['ada', 'grace']) })).flat();
    return { path, headers: [...headers, 'Content-Type', 'application/json'], body };
  };
  const requestOf = ({ path, headers, body }: Sent): SignedRequest => ({
    method: 'POST',
    target: path,
    rawHeaders: [...headers],
    body: Buffer.from(body),
  });
  const told = new Map<string, number>();
  const present = async (sent: Sent) => {
    const verdict = await verifier.verify(requestOf(sent)).then(
      () => 'accepted',
      (error: { code?: string }) => error.code ?? String(error),
    );
    told.set(verdict, (told.get(verdict) ?? 0) + 1);
    return verdict;
  };

  for (let index = 0; index < CALL_MUTATIONS; index += 1) {
    const [own, other] = [call(), call(random.pick([signer, ...others]))];
    const name = NAMES[index % NAMES.length] ?? '';
    const mutant = MUTATIONS[name]?.(own, other, random) ?? own;
    if (!differs(mutant, own) || !differs(mutant, other)) continue;
    const verdict = await present(mutant);
    // Neither the version 1 signature nor a parameter of the media type is what a version 2 proof covers.
    if (verdict === 'accepted') expect([name, uncovered(mutant, own)]).toEqual([name, true]);
    else expect(await present(own), name).toBe('accepted');
    expect(await present(own), name).toBe('nonce_replayed');
    for (const by of others) if (index % 50 === 0) expect(await present(call(by))).toBe('signature_invalid');
  }
  const whole = call();
  for (let at = 0; at < whole.body.length; at += 1) {
    expect(await present({ ...whole, body: whole.body.slice(0, at) })).toBe('signature_invalid');
  }
  const held = Array.from({ length: 50 }, () => call());
  aheadMs = 63_000;
  for (const late of held) expect(await present(late)).toBe('proof_expired');
  console.log(`${CALL_MUTATIONS} changed calls got:`, Object.fromEntries(told));
}, 600_000);

// SPEC.md C8.
describe('a gateway that holds a token of another member', async () => {
  const gatewayPort = await freePort();
  const api = `http://127.0.0.1:${gatewayPort}/v1`;
  const world = await startWorld({ environment: { AUDIENCE: api } });
  onEnd(() => world[Symbol.asyncDispose]());
  const { demo, store, issuer } = world;
  const { id: userId } = await createUser(store, { name: 'Grace' });
  await addSubject(store, { userId, issuer: issuer.url, subject: 'grace' });
  await addMember(store, { workspaceId: demo.workspaceId, userId });
  const its = await world.token({ claims: { sub: 'grace', aud: api } });
  const told: string[] = [];
  /** What it makes of a signing request: whose credential the signer gets. */
  let swap: (authorization: string) => string = (own) => own;
  let isRepeating = false;
  let last: { text: string } | undefined;
  const gateway = await serve(
    createServer(async (req, res) => {
      const { url: path = '', method = '', headers } = req;
      const body = await text(req);
      const own = headers.authorization ?? '';
      const authorization = path.endsWith('/sign') ? swap(own) : own;
      const isOwn = authorization === own && headers['dpop'] !== undefined;
      const raw = ['Content-Type', 'application/json', 'Authorization', authorization];
      if (isOwn) raw.push('DPoP', String(headers['dpop']));
      const answer = await world.http.ask({ method, path, headers: raw, body });
      if (path.endsWith('/sign') && answer.status === 200) last = isRepeating ? (last ?? answer) : answer;
      const nonce = answer.headers['dpop-nonce'];
      const challenge = answer.headers['www-authenticate'];
      res.writeHead(answer.status, {
        ...(nonce !== undefined && { 'dpop-nonce': nonce }),
        ...(challenge !== undefined && { 'www-authenticate': challenge }),
      });
      res.end(answer.status === 200 ? last?.text : answer.text);
    }),
    gatewayPort,
  );
  onEnd(() => gateway[Symbol.asyncDispose]());
  const keys = createLocalKeySet(
    JSON.parse((await world.http.ask({ path: `/v1/interns/${demo.internId}/daemon/jwks.json` })).text),
  );
  const verifier = createVerifier({ internId: demo.internId, keys, replay: createTestReplayStore() });
  const daemon = await serve(
    createServer(
      requireProof(verifier, { bodyBytesMax: 1000 }, (_req, res, { proof }) => {
        told.push(proof.user);
        res.end(proof.user);
      }),
    ),
  );
  onEnd(() => daemon[Symbol.asyncDispose]());
  beforeEach(() => {
    told.length = 0;
    swap = (own) => own;
    isRepeating = false;
    last = undefined;
  });

  const key = await createDpopKey();
  const home = await makeOriHome({ ORI_BASE_URL: api, ORI_DAEMON_URL: daemon.url });
  onEnd(() => home[Symbol.asyncDispose]());
  const keyFile = join(home.folder, 'key.jwk');
  await writeFile(keyFile, JSON.stringify(key.privateJwk), { mode: 0o600 });
  const bound = {
    ORI_TOKEN: await world.token({ claims: { aud: api, cnf: { jkt: key.thumbprint } } }),
    ORI_DPOP_KEY: keyFile,
  };
  const unbound = { ORI_TOKEN: await world.token({ claims: { aud: api } }) };
  const CALL = ['call', demo.internId, '/api/invoke', '--data', '{"prompt":"my salary"}'];
  const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

  it.each([
    ['a bound session', bound],
    ['an unbound session', unbound],
  ])('has no call of %s carried out as that member', async (_what, env) => {
    expect(await runOri(home, CALL, env)).toMatchObject({ exit: 0, stdout: 'ada' });
    swap = () => `Bearer ${its}`;
    told.length = 0;
    for (const args of [CALL, ['sign', demo.internId, '--path', '/', '--data', ''], ['doctor', ...CALL]])
      expect(await runOri(home, args, env)).toMatchObject({
        exit: 4,
        stdout: '',
        stderr: expect.stringContaining('signed as grace, and this session is that of ada'),
      });
    const mcp = await startOri(home, ['mcp', demo.internId], { env, stdin: `${PING}\n` }).result;
    expect(JSON.parse(mcp.stdout)).toMatchObject({ error: { data: { code: 'signed_as_other' } } });
    expect(told).toEqual([]);
  });

  it('is seen by those who watch the signer with ori canary, and by the programs behind ori proxy', async () => {
    swap = () => `Bearer ${its}`;
    const port = String(await freePort());
    const canary = home.start(['canary', demo.internId, '--port', port], { env: bound });
    const proxy = home.start(['proxy', demo.internId], { env: bound });
    const printed = once(createInterface(proxy.child.stdout as Readable), 'line');
    onTestFinished(async () => {
      for (const { child, result } of [canary, proxy]) {
        child.kill();
        await result;
      }
    });
    await canary.told(/Each scrape/);
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('ori_canary_up 0');
    await canary.told(/signed_as_other/);
    const [url] = await printed;
    const answer = await fetch(`${url}/api/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('x-ori-proxy-error')]).toEqual([403, 'signed_as_other']);
    expect(told).toEqual([]);
  });

  it('is shown, with an opaque token, at the first call, and cannot change who calls later', async () => {
    const opaque = { ORI_TOKEN: issuer.opaqueToken({ claims: { aud: api } }) };
    await using mine = await makeOriHome({ ORI_BASE_URL: api, ORI_DAEMON_URL: daemon.url });
    const first = await runOri(mine, CALL, opaque);
    expect(first).toMatchObject({ exit: 0, stdout: 'ada', stderr: expect.stringContaining('calls as ada') });
    swap = () => `Bearer ${its}`;
    expect(await runOri(mine, CALL, opaque)).toMatchObject({ exit: 4, stdout: '' });
    expect(told).toEqual(['ada']);
  });

  it('gives a call no proof of an earlier one, whose answer would pass for its own', async () => {
    isRepeating = true;
    // Two calls of one process, as those of ori mcp and ori proxy are.
    expect(await runOri(home, CALL, bound)).toMatchObject({ exit: 0, stdout: 'ada' });
    const second = await runOri(home, CALL, bound);
    expect(second).toMatchObject({ exit: 6, stderr: expect.stringContaining('gave the same proof before') });
    expect(told).toEqual(['ada']);
  });
});

/** Whether two calls differ in nothing that a version 2 proof covers. */
function uncovered(one: Sent, other: Sent): boolean {
  const covered = ({ path, body, headers }: Sent) => {
    const pairs = headers.flatMap((name, index) =>
      index % 2 === 0 ? [[name.toLowerCase(), headers[index + 1]]] : [],
    );
    return JSON.stringify([
      path,
      body,
      pairs.filter(([name]) => !/^(content-type|x-ori-invoke-signature)$/.test(name ?? '')),
    ]);
  };
  return covered(one) === covered(other);
}
