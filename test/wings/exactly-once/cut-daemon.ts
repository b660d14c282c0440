import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalKeySet, createVerifier, memoryReplayStore, type ReplayStore } from '@ori/verifier';
import { keepAnswers } from '@ori/verifier/answers';
import { requireProof } from '@ori/verifier/node';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { redisReplayStore } from '@ori/verifier/redis';
import { createTestReplayStore } from '@ori/verifier/testing';
import { Redis } from 'ioredis';
import pg from 'pg';

/** The steps of a call before which the daemon can be killed. */
export const STEPS = ['spend', 'run', 'answer', 'keep', 'end'] as const;
export type Step = (typeof STEPS)[number];

export interface DaemonSettings {
  readonly store: 'memory' | 'redis' | 'postgres';
  readonly url: string;
  readonly internId: string;
  readonly jwks: never;
  /** Executions are appended to it: the nonce and the id of the call. */
  readonly file: string;
  /** The memory store is past its fence. */
  readonly isOld: boolean;
}

/** What the parent tells: at which step of a call the process kills itself. */
export type Doom = Step | undefined;

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '') as DaemonSettings);

async function main({ store, url, internId, jwks, file, isOld }: DaemonSettings): Promise<void> {
  let doom: Doom;
  process.on('message', ({ step }: { step: Doom }) => {
    doom = step;
    process.send?.('told');
  });
  process.on('disconnect', () => process.exit());
  const reach = (step: Step): void => {
    if (step === doom) process.kill(process.pid, 'SIGKILL');
  };
  const replay = watched(openStore(store, url, isOld), reach);
  const verifier = createVerifier({
    internId,
    keys: createLocalKeySet(jwks),
    replay,
    answers: keepAnswers(),
  });
  const server = createServer(
    requireProof(verifier, { bodyBytesMax: 10_000 }, async (_request, response, { proof, body }) => {
      const { id, slowMs } = JSON.parse(body.toString());
      reach('run');
      appendFileSync(file, `${proof.nonce} ${id}\n`);
      if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
      reach('answer');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"done":');
      response.end(`"${id}","pad":"${'x'.repeat(600)}"}`);
    }),
  ).listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

/** The store, which ends the process at some of the steps. */
function watched(store: ReplayStore, reach: (step: Step) => void): ReplayStore {
  const answers = store.answers as NonNullable<ReplayStore['answers']>;
  return {
    attach: (policy) => store.attach?.(policy),
    async spend(spend) {
      if (spend.caller !== undefined) reach('spend');
      return store.spend(spend);
    },
    answers: {
      ask: (question) => answers.ask(question),
      async keep(call, end) {
        reach('keep');
        await answers.keep(call, end);
        reach('end');
      },
    },
  };
}

function openStore(store: DaemonSettings['store'], url: string, isOld: boolean): ReplayStore {
  if (store === 'memory') return isOld ? createTestReplayStore() : memoryReplayStore();
  if (store === 'postgres') {
    const pool = new pg.Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 5000 });
    return postgresReplayStore(pool, { replicas: 0, timeoutMs: 5000, acquireMs: 5000 });
  }
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  return redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000 });
}
