import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

interface Entry {
  readonly payload: AdapterPayload;
  readonly expiresAtMs: number;
}

const SWEEP_AT_LEAST = 1000;

/**
 * Stores the state of the OpenID provider (sessions, grants, codes, opaque tokens) in this process, one map per kind.
 * An expired entry is never found, and is removed when the number of entries has doubled since the last sweep.
 */
export function createMemoryAdapterFactory(now: () => number = Date.now): AdapterFactory {
  return () => new MemoryAdapter(now);
}

class MemoryAdapter implements Adapter {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #idByUid = new Map<string, string>();
  readonly #idByUserCode = new Map<string, string>();
  #sweepAt = SWEEP_AT_LEAST;

  constructor(now: () => number) {
    this.#now = now;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds?: number): Promise<void> {
    if (this.#entries.size >= this.#sweepAt) this.#sweep();
    const expiresAtMs = expiresInSeconds === undefined ? Infinity : this.#now() + expiresInSeconds * 1000;
    this.#entries.set(id, { payload, expiresAtMs });
    if (payload.uid !== undefined) this.#idByUid.set(payload.uid, id);
    if (payload.userCode !== undefined) this.#idByUserCode.set(payload.userCode, id);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const entry = this.#entries.get(id);
    return entry !== undefined && this.#now() < entry.expiresAtMs ? entry.payload : undefined;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.find(this.#idByUid.get(uid) ?? '');
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.find(this.#idByUserCode.get(userCode) ?? '');
  }

  async consume(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.payload.consumed = Math.floor(this.#now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    const payload = this.#entries.get(id)?.payload;
    this.#entries.delete(id);
    if (payload?.uid !== undefined && this.#idByUid.get(payload.uid) === id)
      this.#idByUid.delete(payload.uid);
    if (payload?.userCode !== undefined) this.#idByUserCode.delete(payload.userCode);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, { payload }] of this.#entries) {
      if (payload.grantId === grantId) await this.destroy(id);
    }
  }

  #sweep(): void {
    const nowMs = this.#now();
    for (const [id, { expiresAtMs }] of this.#entries) {
      if (expiresAtMs <= nowMs) void this.destroy(id);
    }
    this.#sweepAt = Math.max(SWEEP_AT_LEAST, this.#entries.size * 2);
  }
}
