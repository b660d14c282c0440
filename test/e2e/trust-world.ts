import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startOri } from './cli-in-process.ts';
import { makeOriHome, type OriHome } from './cli-process.ts';
import { type ScriptedIssuer, startScriptedIssuer } from './cli-scripted-issuer.ts';
import { type ApiRequest, listen, type Scripted, send } from './cli-world.ts';

/** Exchanges members of what the API says, as a server in between can. */
export type Change = (document: Record<string, unknown>) => Record<string, unknown>;

export const FIRST = 'int_first';
export const SECOND = 'int_second';

/** How a sign-in went: what was asked of which issuer, and what the person saw. */
export interface Attempt {
  /** `signed in`, or the code of the failure. */
  readonly outcome: string;
  /** The parameters of the page that was opened; absent if none was. */
  readonly asked?: Readonly<Record<string, string>>;
  readonly shown: string;
}

/** A gateway at the API's own address, which answers as the API does, or as a test makes it. Both issuers are honest. */
export interface TrustWorld extends AsyncDisposable {
  readonly baseUrl: string;
  readonly issuer: ScriptedIssuer;
  readonly otherIssuer: ScriptedIssuer;
  readonly requests: Omit<ApiRequest, 'body'>[];
  /** The API's document, and its list of interns, as the gateway passes them on. */
  document: Change;
  interns: Change;
  /** What the gateway answers to everything else. */
  answer: Scripted;
  newHome(): Promise<OriHome>;
  login(home: OriHome, ...args: string[]): Promise<Attempt>;
  /** What `ori mcp` does when nobody is signed in any more. */
  mcp(home: OriHome): Promise<Attempt>;
}

const unchanged: Change = (document) => document;

export async function startTrustWorld(): Promise<TrustWorld> {
  const [issuer, otherIssuer] = [await startScriptedIssuer(), await startScriptedIssuer()];
  for (const one of [issuer, otherIssuer]) {
    one.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
    one.tokenMembers = { token_type: 'DPoP' };
  }
  const requests: TrustWorld['requests'] = [];
  const api = await listen((req, res) => {
    const { method = '', url = '', headers } = req;
    if (url.startsWith('/.well-known/')) return send(res, { status: 200, body: world.document(honest) });
    requests.push({ method, url, headers });
    if (url.startsWith('/v1/interns?')) return send(res, { status: 200, body: world.interns(list) });
    send(res, world.answer);
  });
  const baseUrl = `${api.url}/v1`;
  const honest = {
    resource: baseUrl,
    authorization_servers: [issuer.url],
    scopes_supported: ['vault:read', 'interns'],
    dpop_signing_alg_values_supported: ['ES256'],
    dpop_bound_access_tokens_required: true,
    'x-ori_sign_in': [{ issuer: issuer.url, client_id: 'ori-cli', scopes: ['vault:read'], resource: true }],
  };
  const of = (id: string, name: string) => ({
    id,
    name,
    status: 'running',
    hostname: `${name}.test`,
    model: null,
  });
  const list = { data: [of(FIRST, 'first'), of(SECOND, 'second')], has_more: false };

  /** Does what the person does in the browser, if a page is opened. */
  async function attempt(home: OriHome, args: string[], stdin = ''): Promise<Attempt> {
    const run = startOri(home, args, { stdin });
    const url = await run.told(/sign in:\n {2}(\S+)\n/).then(
      ([, found = '']) => found,
      () => undefined,
    );
    if (url !== undefined)
      await fetch((url.startsWith(otherIssuer.url) ? otherIssuer : issuer).redirectOf(url));
    const { stderr, stdout } = await run.result;
    const session = await readFile(home.sessionFile, 'utf8').catch(() => undefined);
    const code = /"code":"(\w+)"/.exec(stdout)?.[1] ?? 'failed';
    return {
      outcome: session === undefined ? code : 'signed in',
      shown: stderr,
      ...(url !== undefined && { asked: Object.fromEntries(new URL(url).searchParams) }),
    };
  }

  const world: TrustWorld = {
    baseUrl,
    issuer,
    otherIssuer,
    requests,
    document: unchanged,
    interns: unchanged,
    answer: { status: 403, body: { error: { code: 403, message: 'Not now.' } } },
    newHome: () => makeOriHome({ ORI_BASE_URL: baseUrl, BROWSER: 'true' }),
    async login(home, ...args) {
      await rm(home.sessionFile, { force: true });
      const { outcome, ...others } = await attempt(home, ['login', '--no-browser', ...args]);
      return { outcome: outcome === 'failed' ? codeOf(others.shown) : outcome, ...others };
    },
    async mcp(home) {
      await rm(home.sessionFile, { force: true });
      return attempt(home, ['mcp', FIRST, '--daemon', 'http://127.0.0.1:1'], `${PING}\n`);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([api.stop(), issuer[Symbol.asyncDispose](), otherIssuer[Symbol.asyncDispose]()]);
    },
  };
  return world;
}

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

const OUTCOMES = {
  sign_in_differs: /is not what this profile trusts/,
  resource_mismatch: /describes/,
  issuer_not_chosen: /several issuers/,
} as const;

function codeOf(told = ''): string {
  return Object.entries(OUTCOMES).find(([, sentence]) => sentence.test(told))?.[0] ?? told;
}

export const trustFileOf = (home: OriHome) => join(home.folder, '.config/ori/trust.json');
