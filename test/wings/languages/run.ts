import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { signingInputV2 } from '../../../libs/public/proof/src/signing-input.ts';
import { bodySha256, PROOF_METHOD } from '../../../libs/public/proof/src/wire.ts';
import { issuedKey, issuedValue } from '../../../libs/public/verifier/src/replay/redis/reservation.ts';
import { createTestSigner } from '../../../libs/public/verifier/src/testing/testing.ts';

/** What a process is told. */
export interface Task {
  readonly store: 'redis' | 'postgres';
  readonly url: string;
  readonly mode: 'spend' | 'redeem';
  /** Python's, for PostgreSQL. */
  readonly driver: 'psycopg' | 'asyncpg';
  readonly internId: string;
  readonly jwks: ReturnType<typeof createTestSigner>['jwks'];
  readonly answersKey: string;
  /** Python's, for Redis. */
  readonly replicas?: number;
}

export interface Request {
  readonly id: number;
  readonly target: string;
  readonly rawHeaders: readonly string[];
}

export interface Said {
  readonly id: number;
  readonly said: string;
  readonly status?: number;
  readonly body?: string;
}

export interface Plan extends Pick<Task, 'store' | 'url' | 'mode' | 'driver'> {
  readonly python: string;
  readonly proofs: number;
  /** Between two kills; none if absent. */
  readonly killEveryMs?: number;
}

/** The languages of the processes. */
const PROCESSES = ['node', 'node', 'python', 'python', 'python'] as const;
/** Each proof is presented to this many processes at once, and then to one of the others. */
const AT_ONCE = 3;
const FENCE_MS = 6000;
const ANSWER_MS = 5000;
const PATH = '/api/invoke';

type Language = (typeof PROCESSES)[number];

/** Daemons of both languages on one store. */
export async function runLanguages({ python, proofs, killEveryMs, ...given }: Plan) {
  const internId = `int_${randomBytes(6).toString('hex')}`;
  const signer = createTestSigner({ internId });
  const answersKey = randomBytes(32).toString('hex');
  const task: Task = { ...given, internId, jwks: signer.jwks, answersKey };
  const members = await Promise.all(PROCESSES.map((language) => openMember(language, python, task)));
  const redis = given.store === 'redis' ? new Redis(given.url) : undefined;
  const pool = redis === undefined ? new pg.Pool({ connectionString: given.url, max: 2 }) : undefined;
  pool?.on('error', () => undefined);
  redis?.on('error', () => undefined);
  const tally = { presented: 0, accepted: 0, twice: 0, never: 0, kills: 0, cut: 0 };
  const acceptedBy: Record<Language, number> = { node: 0, python: 0 };
  const kept = { other: 0, lost: 0, wrong: 0 };
  let isOver = false;

  async function reserve(nonce: string, timestamp: number): Promise<void> {
    if (given.mode !== 'redeem') return;
    const body = {
      user: 'user_1',
      bodySha256: bodySha256(new Uint8Array()),
      method: PROOF_METHOD,
      path: PATH,
    } as const;
    const input = signingInputV2({ ...body, internId, timestamp, nonce });
    await redis?.set(issuedKey(internId, nonce), issuedValue(input), 'EX', 120).catch(() => undefined);
  }

  async function presentOne(index: number): Promise<void> {
    const nonce = randomBytes(16).toString('base64url');
    const timestamp = Math.floor(Date.now() / 1000);
    await reserve(nonce, timestamp);
    const sign = (path: string, own?: object) =>
      signer.request({ path, body: '', user: 'user_1', ...own }).rawHeaders as string[];
    const rawHeaders = sign(PATH, { nonce, timestamp });
    const chosen = members.map((_, at) => members[(index + at) % members.length] as Member);
    const together = chosen.slice(0, AT_ONCE).map((member) => member.present({ target: PATH, rawHeaders }));
    const verdicts = await Promise.all(together);
    verdicts.push((await chosen[AT_ONCE]?.present({ target: PATH, rawHeaders })) as Said);
    tally.presented += verdicts.length;
    const winners = verdicts.map(({ said }, at) => (said === 'accepted' ? at : -1)).filter((at) => at >= 0);
    const winner = chosen[winners[0] ?? -1];
    if (winners.length > 1) tally.twice += 1;
    if (winner === undefined) {
      tally.never += 1;
      return;
    }
    tally.accepted += 1;
    acceptedBy[winner.language] += 1;
    if (index % 4 > 0 || given.mode === 'redeem') return;
    const other = chosen.find(({ language }) => language !== winner.language) as Member;
    const target = `/.well-known/ori/calls/${nonce}`;
    for (let attempt = 0; attempt < 40; attempt++) {
      const { said, status, body } = await other.present({ target, rawHeaders: sign(target) });
      if (said === 'answered' && status !== 409) {
        if (status === 410) kept.lost += 1;
        else if (status === 200 && body === `${winner.language} ${nonce} Ä`) kept.other += 1;
        else kept.wrong += 1;
        return;
      }
      await pause(250);
    }
    kept.wrong += 1;
  }

  async function killThem(): Promise<void> {
    for (let round = 0; killEveryMs !== undefined && !isOver; round++) {
      await pause(killEveryMs);
      if (round % 3 === 2) {
        tally.cut += 1;
        await redis?.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').catch(() => undefined);
        const others = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()';
        await pool?.query(`${others} AND query LIKE '%ori_replay%'`).catch(() => undefined);
      } else {
        tally.kills += 1;
        await members[round % members.length]?.replace();
      }
    }
  }

  await pause(FENCE_MS);
  const killing = killThem();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < proofs) await presentOne(next++);
  };
  await Promise.all(Array.from({ length: 12 }, lane));
  isOver = true;
  await killing;
  for (const member of members) member.end();
  redis?.disconnect();
  await pool?.end();
  return { ...tally, acceptedBy, kept };
}

type Member = Awaited<ReturnType<typeof openMember>>;

/** A running daemon of a language. */
export async function openMember(language: Language, python: string, task: Task) {
  const [program, file] = language === 'node' ? [process.execPath, 'presenter.ts'] : [python, 'presenter.py'];
  let count = 0;
  const waiting = new Map<number, (said: Said) => void>();
  let running = await begin();

  async function begin(): Promise<ChildProcess> {
    const args = [join(import.meta.dirname, file), JSON.stringify(task)];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.on('error', () => undefined);
    const ready = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line);
      if (said.id === 'ready') ready.resolve();
      else waiting.get(said.id)?.(said);
    });
    await Promise.race([ready.promise, once(child, 'exit')]);
    return child;
  }

  return {
    language,
    /** `no_answer` of a process that was killed. */
    async present(request: Omit<Request, 'id'>): Promise<Said> {
      const id = ++count;
      const told = Promise.withResolvers<Said>();
      waiting.set(id, told.resolve);
      running.stdin?.write(`${JSON.stringify({ id, ...request })}\n`);
      const timer = setTimeout(() => told.resolve({ id, said: 'no_answer' }), ANSWER_MS);
      try {
        return await told.promise;
      } finally {
        clearTimeout(timer);
        waiting.delete(id);
      }
    },
    /** Kills the process, and starts another in its place. */
    async replace(): Promise<void> {
      const exit = once(running, 'exit');
      running.kill('SIGKILL');
      await exit;
      for (const [id, tell] of waiting) tell({ id, said: 'no_answer' });
      running = await begin();
    },
    end: (): void => void running.kill('SIGKILL'),
  };
}
