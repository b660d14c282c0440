import { createInterface } from 'node:readline';
import { keepAnswers } from '@ori/verifier/answers';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import { postgresReplayStore } from '../../../libs/public/verifier/src/replay/postgres/store.ts';
import { redisReplayStore } from '../../../libs/public/verifier/src/replay/redis/store.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';
import type { Request, Said, Task } from './run.ts';

// A daemon without HTTP: presenter.ts TASK. Judges each line of its input, a request, and says what became of it.
const task = JSON.parse(process.argv[2] ?? '') as Task;
const { internId, jwks, url, mode } = task;
const options = { replicas: 0, timeoutMs: 1000, answersKey: Buffer.from(task.answersKey, 'hex') };

function openStore() {
  if (task.store === 'postgres') {
    return postgresReplayStore(
      new pg.Pool({ connectionString: url, connectionTimeoutMillis: 1000 }),
      options,
    );
  }
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 20,
  });
  return redisReplayStore(redis, { ...options, mode });
}

const verifier = createVerifier({
  internId,
  keys: createLocalKeySet(jwks),
  replay: openStore(),
  answers: keepAnswers(),
});

async function judge({ id, target, rawHeaders }: Request): Promise<Said> {
  try {
    const proof = await verifier.verify({ method: 'POST', target, rawHeaders, body: new Uint8Array() });
    const asked = verifier.answers?.ask(proof);
    if (asked !== undefined) {
      const { status, body } = await asked;
      return { id, said: 'answered', status, body: Buffer.from(body).toString() };
    }
    const recorder = verifier.answers?.record(proof);
    recorder?.begin(200, { 'content-type': 'text/plain' });
    recorder?.end(Buffer.from(`node ${'nonce' in proof ? proof.nonce : ''} Ä`));
    return { id, said: 'accepted' };
  } catch (error) {
    return { id, said: String((error as { code?: unknown }).code) };
  }
}

const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
createInterface({ input: process.stdin })
  .on('line', (line) => void judge(JSON.parse(line)).then(say))
  .on('close', () => process.exit());
say({ id: 'ready' });
