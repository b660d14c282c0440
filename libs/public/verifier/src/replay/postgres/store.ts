import { randomUUID } from 'node:crypto';
import { UnavailableError } from '@ori/proof/wire';
import { type AnswerStore, type ReplayPolicy, retentionSeconds, type Spend } from '../replay-store.ts';
import {
  attend,
  requireSharedOptions,
  type SharedReplayStore,
  type SharedReplayStoreOptions,
} from '../shared-store.ts';
import { requireSafe, requireSpent } from '../verdict.ts';
import {
  createFunctionCaller,
  isSilence,
  type PostgresAnswer,
  type PostgresPool,
  requirePostgresPool,
  survivePoolErrors,
} from './client.ts';
import { adaptPostgresJs, type PostgresJs } from './postgres-js.ts';
import { SCHEMA_VERSION } from './tables.ts';

/** Options of `postgresReplayStore`. */
export interface PostgresReplayStoreOptions extends SharedReplayStoreOptions {
  /** Required: `synchronous_standby_names` must wait for half of these standbys, rounded up. */
  replicas: number;
  /** Limit for waiting until the pool has a free connection; 1000 by default. */
  acquireMs?: number;
}

/**
 * Remembers spent proofs in PostgreSQL, for any number of processes. Install `POSTGRES_REPLAY_SQL` in the database first. Each
 * spend is one statement in its own transaction, written to disk before it is answered. It is refused unless the server is a primary
 * with safe settings, its clock agrees, and it is the same run on the same timeline as before: after a restart, a failover or a
 * restored backup, every proof issued up to then is refused (`proof_before_fence`). A spend without an answer counts as spent and is
 * never sent again.
 * Pass a pool of pg 8, a function that makes a client of postgres.js 3, or your own `PostgresPool`. The store closes connections on
 * which answers are missing, and so replaces the client that the function made.
 * @throws {TypeError} for invalid options.
 */
export function postgresReplayStore(
  given: PostgresPool | (() => PostgresJs),
  options: PostgresReplayStoreOptions,
): SharedReplayStore {
  const { replicas, timeoutMs, touchSeconds, callEnds, now } = requireSharedOptions(
    options,
    ['acquireMs'],
    'postgresReplayStore',
  );
  const { acquireMs = 1000 } = options;
  if (options.replicas === undefined) throw new TypeError('replicas: expected an integer from 0');
  if (!(acquireMs > 0 && acquireMs <= 10_000)) throw new TypeError('acquireMs: expected 1 to 10000');
  if (typeof given === 'function' && 'unsafe' in given) {
    throw new TypeError(
      'postgresReplayStore: pass a function that makes the client, () => postgres(…), because silent connections of postgres.js can only be closed with it',
    );
  }
  const made = typeof given === 'function' ? adaptPostgresJs(given, replicas) : undefined;
  const pool = made?.pool ?? (given as PostgresPool);
  requirePostgresPool(pool);
  survivePoolErrors(pool);
  const acks = Math.ceil(replicas / 2);
  const call = createFunctionCaller(pool, { timeoutMs, acquireMs }, made?.reopen);
  const process = randomUUID();
  const attendance = attend(touchSeconds, touchAtOnce);
  const { policies, touchQuietly } = attendance;
  let known: Known = { event: 0, identity: '', lsn: '0/0' };
  let refusal: UnavailableError | undefined;
  let doubts = 0;
  let touching: Promise<void> | undefined;
  let touchedMs = Number.NEGATIVE_INFINITY;

  /** Updated only by successful answers: an unsafe server returns no state. */
  function learn({ event = 0, identity = '', lsn = '0/0' }: PostgresAnswer): void {
    if (event < known.event) return;
    const isAsBefore = event === known.event && toPosition(lsn) < toPosition(known.lsn);
    known = { event, identity, lsn: isAsBefore ? known.lsn : lsn };
  }

  const facts = (): unknown[] => [known.event, known.identity, known.lsn];

  /** Resolves to whether there is something to forget. */
  async function touchOne(policy: ReplayPolicy): Promise<boolean> {
    const { internId, acceptV1, clockToleranceSeconds, answers } = policy;
    const limits = [clockToleranceSeconds, acks];
    const answer = await call('touch', () => [
      internId,
      acceptV1,
      now() / 1000,
      ...facts(),
      ...limits,
      Math.ceil(timeoutMs),
      answers === undefined ? null : process,
    ]);
    requireSafe(answer);
    if (!(Number(answer.version) >= SCHEMA_VERSION)) {
      throw new UnavailableError(
        'replay_store_unsafe',
        'the schema ori_replay is outdated: install it again',
      );
    }
    learn(answer);
    return answer.due === true;
  }

  /** May take longer than an answer: it goes on in the server, or with the next check. The state of the server does not depend on it. */
  async function forget({ clockToleranceSeconds }: ReplayPolicy): Promise<void> {
    await call('forget', () => [now() / 1000, clockToleranceSeconds, acks]).catch(() => undefined);
  }

  /**
   * Until a check finds the server healthy again, spends are refused without being sent: an unsafe server cannot decide them, and each
   * spend that waits for a frozen server or a missing standby occupies a connection.
   */
  function doubt(error: unknown): void {
    if (!(error instanceof UnavailableError)) return;
    if (error.code !== 'replay_store_unsafe' && !isSilence(error)) return;
    refusal = error;
    doubts += 1;
  }

  async function touchAll(): Promise<void> {
    touchedMs = performance.now();
    try {
      let doubtsBefore: number;
      let due: ReplayPolicy | undefined;
      do {
        doubtsBefore = doubts;
        if (acks > 0) requireSafe(await call('waiting', () => []));
        // One at a time: a pool of one connection suffices, and a frozen server costs one timeout.
        for (const policy of policies.values()) if (await touchOne(policy)) due = policy;
        // A check that began before the suspicion arose does not clear it.
      } while (doubts !== doubtsBefore);
      refusal = undefined;
      if (due !== undefined) await forget(due);
    } catch (error) {
      doubt(error);
      throw error;
    }
  }

  /** Those who ask at the same time share a check. */
  async function touchAtOnce(): Promise<void> {
    touching ??= touchAll().finally(() => {
      touching = undefined;
    });
    await touching;
  }

  /** The last arguments of `spend` and `ask`. */
  const stateOf = (policy: ReplayPolicy, nowMs: number): unknown[] => [
    nowMs / 1000,
    ...facts(),
    retentionSeconds(policy),
    policy.clockToleranceSeconds,
    acks,
    Math.ceil(timeoutMs),
  ];

  /** Calls a function that spends, unless the server is in doubt. */
  async function callOnce(name: string, args: (waitedMs: number) => unknown[]): Promise<PostgresAnswer> {
    if (refusal !== undefined) {
      if (performance.now() - touchedMs > TOUCH_APART_MS) touchQuietly();
      throw refusal;
    }
    const answer = await call(name, args).catch((error: unknown) => {
      doubt(error);
      throw error;
    });
    if (answer.verdict === 'unsafe') touchQuietly();
    else learn(answer);
    return answer;
  }

  async function spend({ policy, timestamp, nowMs, nonce, v1Id, caller }: Spend): Promise<'spent'> {
    const answer = await callOnce('spend', (waitedMs) => [
      policy.internId,
      timestamp,
      nonce === undefined ? null : Buffer.from(nonce, 'base64url'),
      Buffer.from(v1Id(), 'hex'),
      ...stateOf(policy, nowMs + waitedMs),
      ...(caller === undefined ? [] : [caller, process]),
    ]);
    // The recording of version 1 ids begins with a touch.
    if (nonce === undefined && answer.verdict === 'before_fence') touchQuietly();
    return requireSpent(answer);
  }

  const answers: AnswerStore = {
    async keep(of, end) {
      const ended = callEnds.render(of, end);
      await call('keep', () => [of.policy.internId, Buffer.from(of.nonce, 'base64url'), ended]);
    },
    async ask(question) {
      const { policy, user, nonce, timestamp, nowMs } = question;
      const answer = await callOnce('ask', (waitedMs) => [
        user,
        timestamp,
        policy.internId,
        Buffer.from(nonce, 'base64url'),
        ...stateOf(policy, nowMs + waitedMs),
      ]);
      if (answer.verdict === 'not_received') return 'not_received';
      if (answer.verdict !== 'recorded') requireSpent(answer);
      return callEnds.parse(question, answer.outcome ?? '');
    },
  };

  const { attach, touch, ready } = attendance;
  const close = (): void => {
    attendance.close();
    made?.end();
  };
  return { attach, spend, answers, touch, ready, close };
}

/** Refused spends trigger a check, at most this often. */
const TOUCH_APART_MS = 100;

/** The state from the last good answers. */
interface Known {
  readonly event: number;
  readonly identity: string;
  readonly lsn: string;
}

/** A position in the write-ahead log as a comparable number. */
function toPosition(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}
