import { CliError } from './errors.ts';
import type { Difference, Terms } from './failures/facts.ts';
import { claimsOf } from './given-token.ts';
import { parseJson } from './parse-json.ts';
import { OUR_SCOPES } from './scopes.ts';

/** What the person chose, for later sign-ins at the same issuer. */
export interface Chosen {
  readonly client?: string | undefined;
  readonly scope?: string | undefined;
  readonly unbound?: boolean | undefined;
}

/** What a profile trusts at one base address. It contains no secret, and outlives the session. */
export interface Trust {
  /** The terms of the last sign-in; undefined before the first. */
  readonly signIn?: Terms & { readonly chosen: Chosen };
  /** The terms of a sign-in that was refused: what `--trust` accepts. */
  readonly refused?: Terms;
  /** The id of each intern that was named in a command, by its name. */
  readonly interns: Readonly<Record<string, string>>;
  /** The origin of the daemon of each intern, by its id. */
  readonly daemons: Readonly<Record<string, string>>;
  /** What the signer calls a person whom the issuer calls otherwise. */
  readonly users?: Readonly<Record<string, string>>;
  /** The origins of the daemons that were seen to keep answers. */
  readonly keepers?: readonly string[];
  /** The public keys that have to vouch for the key sets of the API, 43 characters of base64url each. */
  readonly roots?: readonly string[];
  /** What the wing `proven` keeps of the daemon of each intern, by its id. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

export const CLIENT_DEFAULT = 'ori-cli';
const NOTHING: Trust = { interns: {}, daemons: {} };

type Compare = (before: Terms, now: Terms) => boolean;
const differsIn =
  (member: keyof Terms): Compare =>
  (before, now) =>
    before[member] !== now[member];
const isLess =
  (member: 'resource' | 'bound'): Compare =>
  (before, now) =>
    before[member] && !now[member];
const hasMore =
  (member: 'scope' | 'audience', usual: readonly string[] = []): Compare =>
  (before, now) =>
    wordsOf(now[member]).some((word) => !usual.includes(word) && !wordsOf(before[member]).includes(word));

const IS_WEAKER: Readonly<Record<keyof Terms, Compare>> = {
  issuer: differsIn('issuer'),
  // Ours is as good as at a first sign-in, whatever a server in between made of an earlier one.
  client: (before, now) => now.client !== CLIENT_DEFAULT && before.client !== now.client,
  scope: hasMore('scope', OUR_SCOPES),
  resource: isLess('resource'),
  bound: isLess('bound'),
  audience: hasMore('audience'),
};
const MEMBERS = Object.keys(IS_WEAKER) as (keyof Terms)[];

/**
 * Requires terms that are equal to the trusted ones or stronger, except in what the person accepts. Before the first
 * sign-in the usual terms are trusted, at any issuer.
 *
 * @throws CliError `sign_in_differs`
 */
export function requireTrusted(
  now: Terms,
  trusted: Terms | undefined,
  isAccepted: (member: keyof Terms, now: Terms) => boolean,
): void {
  const usual = { client: CLIENT_DEFAULT, scope: OUR_SCOPES.join(' '), resource: true, audience: '' };
  const before: Terms = trusted ?? { issuer: now.issuer, bound: now.bound, ...usual };
  const differences = MEMBERS.filter(
    (member) => IS_WEAKER[member](before, now) && !isAccepted(member, now),
  ).map((member): Difference => ({ member, before: before[member], now: now[member] }));
  if (differences.length > 0) throw new CliError('sign_in_differs', { differences });
}

/** The addresses in the audience of a JWT that are not among `own`. An opaque token shows none. */
export function foreignAudience(token: string, own: readonly (string | undefined)[]): string[] {
  const { aud } = claimsOf(token);
  const audience = (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === 'string');
  const bare = (address: string) => address.replace(/\/+$/, '');
  const known = own.map((address) => bare(address ?? ''));
  return audience.filter((one) => /^https?:/i.test(one) && !known.includes(bare(one)));
}

/** What each base address is trusted with, from a stored text; undefined if it is damaged. */
export function parseTrust(text: string): Record<string, Trust> | undefined {
  const value = parseJson(text);
  if (!isRecord(value)) return undefined;
  const isTrust = (one: unknown) =>
    isRecord(one) &&
    isRecord(one['interns']) &&
    isRecord(one['daemons']) &&
    isRecord(one['users'] ?? {}) &&
    Array.isArray(one['keepers'] ?? []) &&
    Array.isArray(one['roots'] ?? []) &&
    isRecord(one['answers'] ?? {}) &&
    isSignIn(one['signIn']) &&
    (one['refused'] === undefined || areTerms(one['refused']));
  return Object.values(value).every(isTrust) ? (value as Record<string, Trust>) : undefined;
}

/** The trust of a base address, which may be a new one. */
export function trustOf(all: Readonly<Record<string, Trust>>, baseUrl: string): Trust {
  return ownValue(all, baseUrl) ?? NOTHING;
}

/** A member that is the record's own. Names come from people and servers. */
export function ownValue<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isSignIn(value: unknown): boolean {
  return value === undefined || (areTerms(value) && isRecord(value['chosen']));
}

function areTerms(value: unknown): value is Record<string, unknown> {
  const isText = (member: keyof Terms) => member !== 'resource' && member !== 'bound';
  return (
    isRecord(value) &&
    MEMBERS.every((member) => typeof value[member] === (isText(member) ? 'string' : 'boolean'))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}
