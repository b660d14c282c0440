import { UnavailableError, type UnavailableErrorCode } from '@ori/proof/wire';
import { watchSilence, within } from '../shared-store.ts';
import type { Verdict } from '../verdict.ts';
import { type RedisClient, reopenConnections, SCRIPT_SHA1 } from './client.ts';
import { loadRedisScripts } from './reservation.ts';
import type { RedisScriptName } from './scripts.ts';

/** The answer of a script. */
export interface Answer extends Verdict {
  /** Unix seconds with six decimals, as text so that no digit changes; absent if the server is unsafe. */
  readonly fence?: string;
  /** `ask` only: how the call ended, as `CallEnds.parse` reads it. */
  readonly outcome?: string;
}

export type Argument = string | number | Buffer;

/** Runs the scripts, and turns every failure into an UnavailableError. With replicas, `WAIT` follows each spend. */
export function createScriptRunner(
  redis: RedisClient,
  { replicasMin, timeoutMs, lastError }: { replicasMin: number; timeoutMs: number; lastError: () => unknown },
) {
  const waitMs = Math.max(1, Math.floor(timeoutMs * 0.75));
  let loading: Promise<void> | undefined;
  const silence = watchSilence(() => reopenConnections(redis));
  async function inTime<T>(answer: Promise<T>): Promise<T> {
    try {
      const said = await within(timeoutMs, answer, () => new Error(`no answer within ${timeoutMs} ms`));
      silence.heard();
      return said;
    } catch (error) {
      if (codeOf(error) === undefined) silence.missed();
      else silence.heard();
      throw error;
    }
  }

  const call: Send = async (name, keys, args) =>
    toAnswers(await inTime(redis.call('EVALSHA', SCRIPT_SHA1[name], keys.length, ...keys, ...args)));

  /** One pipeline, because `WAIT` applies to the connection that wrote. */
  const callAndWait: Send = async (name, keys, args) => {
    const pipeline = redis.pipeline([
      ['evalsha', SCRIPT_SHA1[name], keys.length, ...keys, ...args],
      ['wait', replicasMin, waitMs],
    ]);
    const [answer, wait] = (await inTime(pipeline.exec())) ?? [];
    if (answer?.[0]) throw answer[0];
    const answers = toAnswers(answer?.[1]);
    if (!answers.some(isSpend)) return answers;
    if (wait?.[0]) throw wait[0];
    if (Number(wait?.[1]) >= replicasMin) return answers;
    const [first, ...others] = answers;
    return [withoutAcks(first), ...others.map(withoutAcks)];
  };
  const callOnce = replicasMin === 0 ? call : callAndWait;

  /** Fails for a user without SCRIPT LOAD, for whom the signer loads them. */
  const loadScripts = (): Promise<void> => {
    loading ??= inTime(loadRedisScripts(redis))
      .catch(() => undefined)
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };

  return {
    /**
     * Sends a script once; `spendMany` gives an answer for each spend. Without an answer in time it counts as done. A missing script is
     * loaded for the next call.
     */
    async spend(...[name, keys, args]: Parameters<Send>): Promise<Answers> {
      try {
        return await callOnce(name, keys, args);
      } catch (error) {
        if (isUnknownScript(error)) void loadScripts();
        throw toUnavailable(error, lastError());
      }
    },
    /** Replaces the value of a key, if it has one. */
    async replace(key: string, value: string, seconds: number): Promise<void> {
      try {
        await inTime(redis.call('SET', key, value, 'XX', 'EX', seconds));
      } catch (error) {
        throw toUnavailable(error, lastError());
      }
    },
    /** The same for a script that may run twice: if it is missing, it is loaded and sent again. */
    async touch(keys: readonly string[], args: readonly Argument[]): Promise<Answer> {
      try {
        const [answer] = await call('touch', keys, args).catch(async (error: unknown) => {
          if (!isUnknownScript(error)) throw error;
          await loadScripts();
          return call('touch', keys, args);
        });
        return answer;
      } catch (error) {
        throw toUnavailable(error, lastError());
      }
    },
  };
}

type Answers = readonly [Answer, ...Answer[]];
type Send = (name: RedisScriptName, keys: readonly string[], args: readonly Argument[]) => Promise<Answers>;

const UNACKNOWLEDGED: Answer = { verdict: 'unsafe', detail: 'too few replicas acknowledged the spend' };

const isSpend = ({ verdict }: Answer): boolean => verdict === 'spent' || verdict === 'not_received';
const withoutAcks = (answer: Answer): Answer => (isSpend(answer) ? UNACKNOWLEDGED : answer);

/** One answer, or one for each spend of several. */
function toAnswers(reply: unknown): Answers {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return [toAnswer(reply)];
  const [first, ...others]: unknown[] = reply;
  return [toAnswer(first), ...others.map(toAnswer)];
}

function toAnswer(reply: unknown): Answer {
  if (!Array.isArray(reply))
    throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store');
  const [first, second, third]: unknown[] = reply;
  const verdict = String(first);
  if (verdict === 'unsafe') return { verdict, detail: String(second) };
  const answer = { verdict, fence: String(second) };
  if (third === undefined) return answer;
  // A client may give numbers as text: ioredis does with `stringNumbers`.
  if (verdict === 'before_fence') return { ...answer, retryAfterSeconds: Number(third) };
  return { ...answer, outcome: String(third) };
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** By the first word of an error. */
const REFUSALS = new Map<string, [code: UnavailableErrorCode, said: string]>([
  ['OOM', ['replay_store_full', 'the server is out of memory']],
  ['MISCONF', ['replay_store_full', 'the server cannot write to its disk']],
  ['READONLY', ['replay_store_unsafe', 'the server is not a primary']],
  ['NOREPLICAS', ['replay_store_unsafe', 'the server has fewer replicas than its min-replicas-to-write']],
  ['WRONGPASS', ['replay_store_unavailable', 'the server refused the user or the password']],
  ['NOAUTH', ['replay_store_unavailable', 'the server requires a password']],
  ['LOADING', ['replay_store_unavailable', 'the server is still loading its data']],
  ['BUSY', ['replay_store_unavailable', 'the server is busy with another script']],
  ['CLUSTERDOWN', ['replay_store_unavailable', 'the cluster is down']],
  ['MASTERDOWN', ['replay_store_unavailable', 'the server has lost its primary']],
]);
/** The whole of an error whose first word says nothing. */
const CLIENTS_MAX = 'ERR max number of clients reached';

/** The first word of what the server said; undefined unless it said something. What follows may contain arguments. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? /^[A-Z]{2,20}(?= |$)/.exec(error.message)?.[0] : undefined;
}

const PERMISSION = /^NOSCRIPT|^NOPERM|\bcan't run this command\b|No permissions/;

/** @param clientError why the client is not connected, if it said so */
function toUnavailable(error: unknown, clientError: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  const isSaid = codeOf(error) !== undefined;
  const cause = isSaid || clientError === undefined ? error : clientError;
  const code = codeOf(cause) ?? '';
  const message = cause instanceof Error ? cause.message : '';
  const refusal = REFUSALS.get(code);
  if (refusal !== undefined) return new UnavailableError(...refusal, { cause });
  let why = 'the store did not answer';
  if (PERMISSION.test(message))
    why =
      'the scripts are not loaded, or the Redis user lacks a permission: compare it with the ACL in the README';
  else if (message === CLIENTS_MAX) why = 'the server has its maximum number of clients';
  else if (code !== '') why = `the server answered ${code}`;
  return new UnavailableError('replay_store_unavailable', why, { cause });
}
