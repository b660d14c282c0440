import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createIntern } from '@ori/administration/interns';
import { addSigningKey } from '@ori/administration/signing-keys';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { createDpopKey } from '@ori/test-env/dpop';
import { inLanes } from '@ori/test-env/in-lanes';
import { startWorld } from '@ori/test-env/world';
import { createLocalKeySet, createVerifier, type SignedRequest } from '@ori/verifier';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';
import { expect, test } from 'vitest';
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
