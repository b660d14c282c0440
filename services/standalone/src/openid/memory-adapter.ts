import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/** Keeps the state of the OpenID provider (sessions, grants, codes, opaque tokens) in this process until it expires. */
export function createMemoryAdapterFactory(): AdapterFactory {
  return (): Adapter => {
    const entries = new Map<string, AdapterPayload>();
    const first = async (isWanted: (payload: AdapterPayload) => boolean) =>
      [...entries.values()].find(isWanted);
    return {
      async upsert(id, payload, expiresInSeconds) {
        entries.set(id, payload);
        if (expiresInSeconds === undefined) return;
        const expire = () => void (entries.get(id) === payload && entries.delete(id));
        setTimeout(expire, expiresInSeconds * 1000).unref();
      },
      find: async (id) => entries.get(id),
      findByUid: (uid) => first((payload) => payload.uid === uid),
      findByUserCode: (userCode) => first((payload) => payload.userCode === userCode),
      async consume(id) {
        const payload = entries.get(id);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        entries.delete(id);
      },
      async revokeByGrantId(grantId) {
        for (const [id, payload] of entries) if (payload.grantId === grantId) entries.delete(id);
      },
    };
  };
}
