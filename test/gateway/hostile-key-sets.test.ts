import { createRemoteKeySet, type RemoteKeySet } from '@ori/verifier';
import { expect, test, vi } from 'vitest';
import {
  delegate,
  delegationsOf,
  documentOf,
  HERE,
  headersOf,
  jwkOf,
  newKey,
  newRoot,
  urlOf,
} from '../../libs/public/verifier/src/keys/test-root.fixture.ts';
import { createRandom } from '../lab/exactly-once/random.ts';

vi.setConfig({ testTimeout: 300_000 });

const MUTATIONS = 2000;
/** A set is as old as this at most. */
const SET_AGE_MAX_MS = 60_000;
const START = 1_000_000;

interface Recorded {
  readonly body: Buffer;
  readonly headers: Record<string, string>;
  readonly status?: number;
}

/** The honest answers that a server in between has seen: before and after a revocation, and of other places. */
function honestAnswers(at: number) {
  const held = newRoot();
  const [kept, revoked] = [newKey(), newKey()];
  const answer = (
    keys: Parameters<typeof documentOf>[1],
    time: number,
    place = HERE,
    root = held,
  ): Recorded => {
    const body = Buffer.from(documentOf(root, keys, { place }));
    return { body, headers: headersOf(root.freshness, body, time, place) };
  };
  return {
    held,
    current: answer([kept], at),
    before: answer([revoked, kept], at - 5000),
    frozen: answer([kept], at - SET_AGE_MAX_MS),
    otherIntern: answer([newKey()], at, { ...HERE, internId: 'int_2' }),
    otherDeployment: answer([newKey()], at, { ...HERE, baseUrl: 'https://staging.example/v1' }),
    otherRoot: answer([newKey()], at, HERE, newRoot()),
  };
}

test(`a server in between changes ${MUTATIONS} rooted key sets, and none is accepted`, async () => {
  const random = createRandom('hostile key sets');
  const seen = honestAnswers(START);
  const { held, current, before, frozen, otherIntern, otherDeployment, otherRoot } = seen;
  const others = [before, frozen, otherIntern, otherDeployment, otherRoot];
  let next: () => Response = () => respond(current);
  const keys: RemoteKeySet = createRemoteKeySet(urlOf(HERE), {
    root: jwkOf(held.root),
    now: () => START,
    unixTime: () => START,
    fetch: async () => next(),
  });
  await keys.reload();
  const good = await keys.current();

  const { ori, keys: jwks } = JSON.parse(current.body.toString());
  const rewrite = (change: object, headers = current.headers): Recorded => ({
    body: Buffer.from(JSON.stringify({ keys: jwks, ori, ...change })),
    headers,
  });
  const thief = newKey();
  const mutations: Readonly<Record<string, () => Recorded | undefined>> = {
    swap: () => random.pick(others),
    mix: () => ({ body: random.pick([current, ...others]).body, headers: random.pick(others).headers }),
    cut: () => ({ ...current, body: current.body.subarray(0, random.below(current.body.length)) }),
    flip: () => {
      const body = Buffer.from(current.body);
      const at = random.below(body.length);
      body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
      return { ...current, body };
    },
    header: () => {
      const value = current.headers['x-ori-key-set'] ?? '';
      const at = random.below(value.length);
      const other = value.slice(0, at) + random.pick([...'0A/+= ']) + value.slice(at + 1);
      return { ...current, headers: { ...current.headers, 'x-ori-key-set': other } };
    },
    unchanged: () => ({ ...random.pick([before, frozen, otherIntern]), status: 304 }),
    noHeader: () => ({ ...current, headers: { etag: current.headers['etag'] ?? '' } }),
    add: () =>
      rewrite({
        keys: [...jwks, jwkOf(thief)],
        ori: { ...ori, statements: [...ori.statements, ori.statements[0]] },
      }),
    remove: () => rewrite({ keys: [], ori: { ...ori, statements: [] } }),
    field: () =>
      rewrite({
        keys: [
          {
            ...jwks[0],
            [random.pick(['nbf', 'exp', 'x', 'kid', 'use'])]: random.pick([0, 1, 9e9, 'x', null]),
          },
        ],
      }),
    role: () => {
      const delegations = [
        ...delegationsOf(held),
        delegate(thief, 'freshness', thief),
        delegate(held.keys, 'root', thief),
      ];
      const body = Buffer.from(documentOf({ ...held, keys: thief }, [thief], { delegations }));
      return { body, headers: headersOf(thief, body, START) };
    },
    statements: () =>
      rewrite({
        ori: { ...ori, statements: JSON.parse(random.pick(others).body.toString()).ori.statements },
      }),
    delegations: () =>
      rewrite({
        ori: {
          ...ori,
          delegations: [
            ...JSON.parse(random.pick(others).body.toString()).ori.delegations,
            ...ori.delegations,
          ],
        },
      }),
  };
  const names = Object.keys(mutations);
  let refused = 0;
  for (let number = 0; number < MUTATIONS; number++) {
    const name = random.pick(names);
    const changed = mutations[name]?.();
    if (changed === undefined || isHonest(changed, current)) continue;
    next = () => respond(changed);
    await keys.reload().then(
      () => expect.fail(`accepted: ${name}, mutation ${number}`),
      () => (refused += 1),
    );
  }
  expect(await keys.current()).toBe(good);
  expect(refused).toBeGreaterThan(MUTATIONS * 0.95);
});

function respond({ body, headers, status = 200 }: Recorded): Response {
  return new Response(status === 304 ? null : new Uint8Array(body), { headers, status });
}

/** A mutation that changed nothing. */
function isHonest(a: Recorded, b: Recorded): boolean {
  return (
    a.status === undefined &&
    a.body.equals(b.body) &&
    a.headers['x-ori-key-set'] === b.headers['x-ori-key-set']
  );
}
