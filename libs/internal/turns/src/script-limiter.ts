import type { RedisClient } from '@ori/redis/connection';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { TurnLimiterUnavailable } from './store.ts';

export interface Script<State extends RateLimiterRes, Arguments> {
  /** Charges one turn to the key, with the further keys and arguments in `others`. */
  charge(key: string, windowMs: number, others: Arguments): Promise<unknown>;
  /** The state in a reply. @throws {TypeError} for a reply that the script cannot give */
  read(answer: unknown): State;
}

/**
 * rate-limiter-flexible's Redis limiter with our script as its counter, through the two methods that its documentation
 * names for a custom store. Its script option passes one key and the limit of the limiter; our script charges two
 * counters together, each by its own limit.
 */
export class ScriptLimiter<State extends RateLimiterRes, Arguments> extends RateLimiterRedis {
  readonly #script: Script<State, Arguments>;

  constructor(storeClient: RedisClient, windowSeconds: number, script: Script<State, Arguments>) {
    // The script checks the limit, because each call has its own.
    super({ storeClient, keyPrefix: '', points: Number.MAX_SAFE_INTEGER, duration: windowSeconds });
    this.#script = script;
  }

  /** The state after the charge, whether or not it was allowed. @throws {TurnLimiterUnavailable} */
  take(key: string, others: Arguments): Promise<State> {
    return this.consume(key, 1, others as object).catch((cause: unknown) => {
      throw new TurnLimiterUnavailable('the turn limiter did not answer', { cause });
    }) as Promise<State>;
  }

  _upsert(key: string, _points: number, windowMs: number, _force: boolean, others: Arguments) {
    return this.#script.charge(key, windowMs, others);
  }

  _getRateLimiterRes(_key: string, _points: number, answer: unknown): State {
    return this.#script.read(answer);
  }
}

/**
 * Parses the reply of a turn counter's script. An unexpected reply must not be taken for a refusal.
 *
 * @throws TypeError
 */
export function requireIntegers(answer: unknown, count: number): number[] {
  if (Array.isArray(answer) && answer.length === count && answer.every(Number.isSafeInteger)) return answer;
  throw new TypeError('unexpected reply of a turn counter from Redis');
}
