import { readFileSync } from 'node:fs';
import { Secret } from '@ori/runtime/secret';
import { readSecretFile, SecretFileError } from '@ori/runtime/secret-file';
import { z } from 'zod';
import { TOKEN_TYPES, type TokenExpectation } from './expectation.ts';
import { isHttpsOrLoopback } from './https-or-loopback.ts';

/** How a service asks an issuer about opaque tokens (RFC 7662). */
interface IntrospectionSettings {
  /** Undefined if the discovery document names it. */
  readonly endpoint?: string | undefined;
  readonly clientId: string;
  readonly clientSecret?: Secret | undefined;
  readonly authMethod: 'client_secret_basic' | 'client_secret_post' | 'none';
  /** The prefix of the issuer's opaque tokens, where more than one issuer introspects: no other issuer may see them. */
  readonly tokenPrefix: string;
}

/** What `ori login` sends to an issuer, published in the protected-resource document. */
interface SignInSettings {
  /** Undefined if any client's tokens are accepted. */
  readonly clientId?: string | undefined;
  /** The issuer's names of our scopes. */
  readonly scopes: readonly string[];
  /** Whether the base address is sent as `resource` (RFC 8707). */
  readonly resource: boolean;
  /** Whether the person is asked to agree each time (`prompt=consent`), without which some issuers give no refresh token. */
  readonly consent: boolean;
  /** The port of the redirect address, where the issuer compares it exactly. */
  readonly redirectPort?: number | undefined;
}

/** One issuer whose tokens a service accepts. */
export interface IssuerSettings extends TokenExpectation {
  readonly introspection?: IntrospectionSettings | undefined;
  readonly signIn: SignInSettings;
}

/** The defaults for every issuer in the file. */
export interface IssuerDefaults {
  readonly audience: string | undefined;
  readonly clients: readonly string[];
}

/** The longest time for which a token may be valid, from `iat` to `exp`, unless the file says otherwise. */
export const LIFETIME_MAX_SECONDS = 86_400;

export const OUR_SCOPES = ['vault:read', 'interns'] as const;

/** Claims that the issuer's users or administrators can change, or that a second person can get later. */
const MUTABLE_CLAIMS = ['email', 'name', 'nickname', 'preferred_username', 'unique_name', 'upn', 'username'];

const name = z.string().min(1).max(200);
const words = z.union([name, z.array(name).min(1)]).transform((value) => [value].flat());
const issuerEntry = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }),
  audience: name.optional(),
  clients: z.array(name).min(1).optional(),
  tokenTypes: z.array(z.enum(TOKEN_TYPES)).min(1).optional(),
  claims: z
    .strictObject({
      subject: name
        .refine(
          (claim) => !MUTABLE_CLAIMS.includes(claim.split('.').at(-1) ?? ''),
          'is not allowed, because it can pass to another person',
        )
        .optional(),
      client: name.optional(),
      scope: name.optional(),
      authTime: name.optional(),
    })
    .optional(),
  scopes: z.partialRecord(z.enum(OUR_SCOPES), words).optional(),
  requireAuthTime: z.boolean().optional(),
  tokenLifetimeMaxSeconds: z.int().min(60).max(604_800).optional(),
  introspection: z
    .strictObject({
      endpoint: name.refine(isHttpsOrLoopback, 'expected https, or http on loopback').optional(),
      clientId: name,
      clientSecret: name.optional(),
      authMethod: z
        .enum(['client_secret_basic', 'client_secret_post', 'none'])
        .default('client_secret_basic'),
      tokenPrefix: z.string().max(64).default(''),
      withoutAudience: z.boolean().default(false),
    })
    .refine(({ clientSecret, authMethod }) => (clientSecret === undefined) === (authMethod === 'none'), {
      path: ['clientSecret'],
      error: 'required, unless authMethod is "none"',
    })
    .optional(),
  signIn: z
    .strictObject({
      clientId: name.optional(),
      scopes: z.array(name).min(1).optional(),
      resource: z.boolean().default(true),
      consent: z.boolean().default(true),
      redirectPort: z.int().min(1).max(65_535).optional(),
    })
    .prefault({}),
});
const issuersFile = z.strictObject({ issuers: z.array(issuerEntry).min(1).max(20) });

type Entry = z.output<typeof issuerEntry>;
/** An entry as it is written. */
export type IssuerEntry = z.input<typeof issuerEntry>;

/**
 * Reads the file of issuers. One that contains a client secret must not be accessible to others.
 *
 * @param report called with each problem, which quotes only names of settings from the file
 */
export function readIssuersFile(
  path: string,
  defaults: IssuerDefaults,
  report: (problem: string) => void,
): IssuerSettings[] {
  const entries = readEntries(path, report);
  const settings = entries.map((entry, index) => settingsOf(entry, index, defaults, report));
  problemsOfAll(settings).map(report);
  return settings;
}

function readEntries(path: string, report: (problem: string) => void): readonly Entry[] {
  let value: unknown;
  try {
    const text = readFileSync(path, 'utf8');
    value = JSON.parse(text.includes('"clientSecret"') ? readSecretFile(path) : text);
  } catch (error) {
    if (error instanceof SecretFileError) report(error.message);
    else if (error instanceof SyntaxError) report(`${JSON.stringify(path)} is not JSON`);
    else
      report(`cannot read ${JSON.stringify(path)} (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    return [];
  }
  const parsed = issuersFile.safeParse(value);
  if (parsed.success) return parsed.data.issuers;
  for (const issue of parsed.error.issues) report(`${pathOf(issue.path)}: ${issue.message}`);
  return [];
}

const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .slice(1) || 'the file';

function settingsOf(
  entry: Entry,
  index: number,
  defaults: IssuerDefaults,
  report: (problem: string) => void,
): IssuerSettings {
  const { issuer, claims, tokenTypes = ['at+jwt'], scopes, introspection, signIn } = entry;
  const { audience = defaults.audience, clients = defaults.clients } = entry;
  const place = `issuers[${index}]`;
  if (audience === undefined) report(`${place}.audience: required`);
  if (tokenTypes.some((type) => type !== 'at+jwt') && clients.some((client) => client === audience)) {
    report(
      `${place}.audience: must not be one of the clients, because an ID token could then pass for an access token`,
    );
  }
  return {
    issuer,
    audience: audience ?? '',
    clients,
    tokenTypes,
    lifetimeMaxSeconds: entry.tokenLifetimeMaxSeconds ?? LIFETIME_MAX_SECONDS,
    requiresAuthTime: entry.requireAuthTime ?? false,
    ...(claims && { claims: definedMembers(claims) }),
    ...(scopes && { scopes }),
    introspectionWithoutAudience: introspection?.withoutAudience ?? false,
    ...(introspection && {
      introspection: {
        ...introspection,
        clientSecret:
          introspection.clientSecret === undefined ? undefined : new Secret(introspection.clientSecret),
      },
    }),
    signIn: {
      clientId: signIn.clientId ?? clientToName(clients),
      scopes: signIn.scopes ?? OUR_SCOPES.map((scope) => scopes?.[scope]?.[0] ?? scope),
      resource: signIn.resource,
      consent: signIn.consent,
      redirectPort: signIn.redirectPort,
    },
  };
}

/** Of several clients, that of `ori` by its default name, else the first. */
export const clientToName = (clients: readonly string[]): string | undefined =>
  clients.find((client) => client === 'ori-cli') ?? clients[0];

function definedMembers<T extends object>(value: T) {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function problemsOfAll(settings: readonly IssuerSettings[]): string[] {
  const problems: string[] = [];
  const issuers = settings.map(({ issuer }) => issuer);
  const twice = issuers.find((issuer, index) => issuers.indexOf(issuer) !== index);
  if (twice !== undefined) problems.push(`issuers: ${JSON.stringify(twice)} is listed twice`);
  const prefixes = settings.flatMap(({ introspection }) =>
    introspection ? [introspection.tokenPrefix] : [],
  );
  const isAmbiguous = prefixes.some((prefix, index) =>
    prefixes.some((other, otherIndex) => index !== otherIndex && other.startsWith(prefix)),
  );
  if (isAmbiguous) {
    problems.push(
      'issuers: more than one introspects opaque tokens, so each needs a tokenPrefix that is not a prefix of another',
    );
  }
  return problems;
}
