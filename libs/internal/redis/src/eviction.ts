import type { Redis } from 'ioredis';
import { onNodeReady, type RedisClient } from './connection.ts';

/** A server that may evict keys when its memory is full, or whose policy cannot be read. */
export class EvictingRedis extends Error {
  override readonly name = 'EvictingRedis';
  readonly code = 'redis_evicts';
  /** The server's `maxmemory-policy`; undefined if it may not be read. */
  readonly policy: string | undefined;
  /** For `/readyz`. */
  readonly explanation: string;

  constructor(policy: string | undefined) {
    super(
      policy === undefined
        ? 'the Redis user may not run INFO, which shows whether the server evicts keys'
        : `the server evicts: its maxmemory-policy is ${policy}`,
    );
    this.policy = policy;
    this.explanation = this.message;
  }
}

export interface EvictionWatchOptions {
  /** How often connected nodes are checked again, in milliseconds. */
  readonly everyMs?: number;
  /** Called when the verdict on a node changes. */
  readonly onChange?: (unsafe: EvictingRedis | undefined) => void;
}

type Verdict = 'unknown' | 'safe' | EvictingRedis;

/**
 * Reads the `maxmemory-policy` of each node (`INFO memory`) when it connects, and again periodically.
 * Anything but `noeviction` is unsafe: every key that a proof depends on has an expiry, so `volatile-…`
 * policies evict it too.
 */
export function watchEviction(client: RedisClient, options: EvictionWatchOptions = {}) {
  const { everyMs = 5000, onChange } = options;
  const verdicts = new Map<Redis, Verdict>();
  const asked = new Map<Redis, Promise<void>>();
  const known = new WeakSet<Redis>();
  const settled = Promise.withResolvers<void>();
  client.once('error', () => settled.resolve());
  client.once('close', () => settled.resolve());

  function ask(node: Redis): Promise<void> {
    const asking = asked.get(node) ?? judge(node).finally(() => asked.delete(node));
    asked.set(node, asking);
    return asking;
  }

  async function judge(node: Redis): Promise<void> {
    const verdict = await readVerdict(node);
    const former = verdicts.get(node);
    // It disconnected, or did not reply: keep the previous verdict.
    if (former === undefined || verdict === 'unknown') return;
    verdicts.set(node, verdict);
    settled.resolve();
    if (nameOf(former) !== nameOf(verdict)) onChange?.(verdict === 'safe' ? undefined : verdict);
  }

  onNodeReady(client, (node) => {
    verdicts.set(node, 'unknown');
    if (!known.has(node)) node.on('close', () => verdicts.delete(node));
    known.add(node);
    return ask(node);
  });
  const timer = setInterval(() => {
    for (const node of verdicts.keys()) void ask(node);
  }, everyMs);
  timer.unref();

  const all = (holds: (verdict: Verdict) => boolean) => [...verdicts.values()].every(holds);
  const isSafe = () => verdicts.size > 0 && all((verdict) => verdict === 'safe');
  return {
    /** Every connected node is known not to evict. */
    get isSafe() {
      return isSafe();
    },
    /** A connected node is known to evict. */
    get isUnsafe() {
      return !all((verdict) => !(verdict instanceof EvictingRedis));
    },
    /**
     * Returns once the connected nodes are known not to evict. @throws EvictingRedis; Error while none is
     * connected
     */
    async require(): Promise<void> {
      const unknown = [...verdicts.keys()].filter((node) => verdicts.get(node) === 'unknown');
      await Promise.all(unknown.map(ask));
      for (const verdict of verdicts.values()) if (verdict instanceof EvictingRedis) throw verdict;
      if (!isSafe()) throw new Error('cannot tell whether Redis evicts keys: no connection, or no answer');
    },
    /** Resolves once a node was checked or the connection failed. */
    settled: (): Promise<void> => settled.promise,
    close: () => clearInterval(timer),
  };
}

export type EvictionWatch = ReturnType<typeof watchEviction>;

async function readVerdict(node: Redis): Promise<Verdict> {
  try {
    const policy = /^maxmemory_policy:(\S+)/m.exec(await node.info('memory'))?.[1];
    return policy === 'noeviction' ? 'safe' : new EvictingRedis(policy);
  } catch (error) {
    return error instanceof Error && error.message.startsWith('NOPERM')
      ? new EvictingRedis(undefined)
      : 'unknown';
  }
}

function nameOf(verdict: Verdict): string {
  return verdict instanceof EvictingRedis ? `evicts ${verdict.policy}` : verdict;
}
