/** The address in a Redis URL. */
export type RedisAddress = Login & { readonly tls: boolean; readonly db: number } & (
    | { readonly kind: 'single'; readonly node: Node }
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly Node[];
        readonly masterName: string;
        /** The Sentinels' own login; Redis's login is not sent to them. */
        readonly sentinelLogin: Login;
      }
    | { readonly kind: 'cluster'; readonly nodes: readonly Node[] }
  );

interface Node {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** The accepted URL forms, for the error message. */
export const REDIS_URL_FORMS =
  'redis[s]://user:password@host:port/db, redis[s]+sentinel://user:password@h1:p1,h2:p2/master-name/db[?sentinel=user:password]' +
  ' or redis[s]+cluster://user:password@h1:p1,h2:p2';

const URL_PARTS =
  /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?sentinel=([^?#&]*))?$/;

/**
 * Parses a Redis URL; `undefined` unless it has one of {@link REDIS_URL_FORMS}. User and password are percent-
 * decoded.
 */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  const parts = URL_PARTS.exec(url);
  if (parts === null) return undefined;
  const [, s, mode, userInfo, hosts = '', path = '', sentinelInfo] = parts;
  if (sentinelInfo !== undefined && mode !== 'sentinel') return undefined;
  const [login, sentinelLogin] = [parseLogin(userInfo), parseLogin(sentinelInfo)];
  const nodes = hosts.split(',').map((host) => parseNode(host, mode === 'sentinel' ? 26379 : 6379));
  if (login === undefined || sentinelLogin === undefined || !nodes.every((node) => node !== undefined))
    return undefined;
  const base = { ...login, tls: s === 's' };
  const segments = path.split('/');
  switch (mode) {
    case 'cluster':
      return path === '' ? { ...base, kind: 'cluster', nodes, db: 0 } : undefined;
    case 'sentinel': {
      const [masterName = '', dbText = '', ...more] = segments;
      const db = parseDb(dbText);
      if (!/^[\w.-]+$/.test(masterName) || db === undefined || more.length > 0) return undefined;
      return { ...base, kind: 'sentinel', sentinels: nodes, masterName, sentinelLogin, db };
    }
    default: {
      const db = parseDb(path);
      const [node] = nodes;
      if (node === undefined || nodes.length !== 1 || db === undefined) return undefined;
      return { ...base, kind: 'single', node, db };
    }
  }
}

function parseLogin(userInfo: string | undefined): Login | undefined {
  if (userInfo === undefined) return {};
  const colon = userInfo.indexOf(':');
  try {
    const username = decodeURIComponent(colon === -1 ? userInfo : userInfo.slice(0, colon));
    const password = colon === -1 ? '' : decodeURIComponent(userInfo.slice(colon + 1));
    return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
  } catch {
    return undefined;
  }
}

function parseNode(text: string, defaultPort: number): Node | undefined {
  const parts = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/.exec(text);
  if (parts === null) return undefined;
  const [, host = '', portText] = parts;
  const port = portText === undefined ? defaultPort : Number(portText);
  return port >= 1 && port <= 65535 ? { host: host.replace(/^\[|\]$/g, ''), port } : undefined;
}

function parseDb(text: string): number | undefined {
  if (text === '') return 0;
  return /^[0-9]{1,4}$/.test(text) ? Number(text) : undefined;
}
