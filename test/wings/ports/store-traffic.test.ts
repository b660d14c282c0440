import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedis } from '@ori/test-env/redis';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { SCRIPT_SHA1 } from '../../../libs/public/verifier/src/replay/redis/client.ts';
import { redisReplayStore } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import { STORE_WIRE } from '../../vectors/store-wire.ts';
import { installPython } from './python-environment.ts';

const PYTHON = installPython();
const NONCE = Buffer.alloc(16, 0x5a).toString('base64url');
const USER = 'user_1';
type Mode = 'spend' | 'redeem';

/** One of each call: a touch, spends with and without a record, of a question and of version 1, an end, a question. */
async function inTypeScript(url: string, mode: Mode, internId: string): Promise<void> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  onTestFinished(() => redis.disconnect());
  await once(redis, 'ready');
  const policyOf = (answers?: object) => ({
    internId,
    maxAgeSeconds: 60,
    clockToleranceSeconds: 2,
    acceptV1: false,
    answers,
  });
  const replay = redisReplayStore(redis, { mode, timeoutMs: 5000, touchSeconds: 5 });
  onTestFinished(() => replay.close());
  replay.attach(policyOf({}));
  await replay.ready();
  const now = { timestamp: Math.floor(Date.now() / 1000), nowMs: Date.now() };
  const proof = { ...now, signingInput: Buffer.from('input'), v1Id: () => '5b'.repeat(32) };
  const spends = [
    { policy: policyOf(), nonce: NONCE },
    { policy: policyOf({}), nonce: NONCE, caller: USER },
    { policy: policyOf({}), nonce: NONCE },
    ...(mode === 'spend' ? [{ policy: policyOf() }] : []),
  ];
  for (const spend of spends)
    await Promise.resolve(replay.spend({ ...proof, ...spend })).catch(() => undefined);
  const call = { policy: policyOf({}), user: USER, nonce: NONCE };
  await replay.answers.keep(call, 'too_large');
  await Promise.resolve(replay.answers.ask({ ...call, ...now })).catch(() => undefined);
}

const IN_PYTHON = `
import sys, time
from ori_proof import Refused
from ori_proof.redis import RedisStore
from ori_proof.store import Call, Policy, Question, Spend
url, mode, intern, nonce, user = sys.argv[1:]
store = RedisStore(url, mode=mode, timeout_ms=5000, touch_seconds=5)
policy_of = lambda answers: Policy(intern, 60, 2, False, answers, 92)
store.attach(policy_of(True))
store.ready()
now = int(time.time())
def spend(answers, nonce, caller=None):
    asked = Spend(policy_of(answers), "", str(now), user, nonce, "/", time.time())
    asked.digest, asked.caller = "0" * 64, caller
    try:
        store.spend(asked)
    except Refused:
        pass
spend(False, nonce)
spend(True, nonce, user)
spend(True, nonce)
if mode == "spend":
    spend(False, None)
call = Call(policy_of(True), user, nonce)
store.keep(call, "too_large")
time.sleep(0.2)
try:
    store.ask(Question(call, now, time.time()))
except Refused:
    pass
store.close()
`;

async function inPython(url: string, mode: Mode, internId: string): Promise<void> {
  const cwd = join(import.meta.dirname, '../../../libs/public/python/src');
  await promisify(execFile)(PYTHON ?? '', ['-c', IN_PYTHON, url, mode, internId, NONCE, USER], { cwd });
}

/** What a kind of call looks like: places, and not values. */
function shapeOf(words: readonly string[], internId: string): string {
  const first = 3 + Number(words[2]);
  const shape = words.map((word, index) => {
    if (word.includes(`{${internId}}`)) return word.replace(internId, 'I').replace(/[\w-]{22}$/, 'nonce');
    if (index === first && /^\d+\.\d{6}$/.test(word)) return 'time';
    if (index === first + 1 && /^(0|\d+\.\d{6}|\$fence)$/.test(word)) return 'fence';
    if (/^[\w-]{43}$/.test(word)) return 'reservation';
    if (/^1\d{9}$/.test(word)) return 'second';
    if (/^[Z[]|\\x/.test(word)) return 'bytes';
    return word
      .replaceAll('\\n', '\n')
      .replace(PROCESS, 'process')
      .replace(/\n[^\n]*$/, ' outcome');
  });
  return shape.join(' ');
}

const PROCESS = /[\da-f]{8}-[\da-f-]{27}/;

/** The same of a step of store-wire.json. */
function shapeOfVector(send: readonly string[]): string {
  const filled = send.map((word) =>
    word
      .replace(/^\$hex:.*/, 'Z')
      .replace(/^\$now.*/, '1789000000.000001')
      .replace(/^\$second.*/, '1789000000')
      .replace(/\{int_\w+\}/, '{I}'),
  );
  return shapeOf(filled, 'I');
}

test.skipIf(PYTHON === undefined).each(['spend', 'redeem'] as const)(
  'the stores of both languages send what store-wire.json has: %s',
  async (mode) => {
    const server = await startRedis();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const admin = new Redis(server.url);
    const monitor = await admin.monitor();
    onTestFinished(() => {
      admin.disconnect();
      monitor.disconnect();
    });
    const names = new Map(Object.entries(SCRIPT_SHA1).map(([name, sha1]) => [sha1, `$sha:${name}`]));
    const said: Record<string, string[]> = { ts: [], py: [] };
    monitor.on('monitor', (_time: string, [command = '', ...args]: string[], source: string) => {
      const language = args.join(' ').includes('{ts}') ? 'ts' : 'py';
      if (source === 'lua' || !/^(EVALSHA|SET)$/i.test(command)) return;
      const words = [command.toUpperCase(), ...args.map((word) => names.get(word) ?? word)];
      said[language]?.push(shapeOf(words, language));
    });
    await inTypeScript(server.url, mode, 'ts');
    await inPython(server.url, mode, 'py');
    // Last, each asks.
    await expect.poll(() => said['py']?.at(-1)).toContain('$sha:ask');
    const [typescript, python] = ['ts', 'py'].map((language) => [...new Set(said[language])].toSorted());
    expect(python).toEqual(typescript);
    const vectors = new Set(
      STORE_WIRE.redis.flatMap(({ steps }) =>
        steps.flatMap((step) => ('do' in step ? [] : shapeOfVector(step.send))),
      ),
    );
    for (const shape of typescript ?? []) expect.soft([...vectors]).toContain(shape);
    expect(typescript?.length).toBe(mode === 'spend' ? 7 : 6);
  },
);
