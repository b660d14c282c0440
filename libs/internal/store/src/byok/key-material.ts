import { z } from 'zod';
import { AdminError } from '../writes/admin-error.ts';
import { DeclaredRegion, type Provider } from './credential.ts';

/** The providers whose key can contain the region, as JSON with `api_key` and `region`. */
const STRUCTURED: ReadonlySet<Provider> = new Set<Provider>(['openai', 'fireworks']);

/** The regions that can be declared where the key contains none; every region for a provider that is not listed. */
const DECLARABLE: Partial<Record<Provider, readonly DeclaredRegion[]>> = {
  azure: ['europe', 'us'],
  anthropic: ['us'],
};

/** Control characters anywhere, or white space at either end: signs that more than the key was copied. */
const NOT_A_KEY = /\p{Cc}|^\s|\s$/u;

const StructuredKey = z.strictObject({ api_key: z.string().min(1), region: DeclaredRegion });

export interface KeyMaterial {
  /** The secret part of the key, from which the label is derived. */
  readonly apiKey: string;
  /** The region in the key; undefined if it has none. */
  readonly region: DeclaredRegion | undefined;
}

/**
 * Parses a provider key.
 *
 * @throws AdminError `invalid_input` for control characters or surrounding white space, and for a broken structured key
 */
export function readKeyMaterial(provider: Provider, key: string): KeyMaterial {
  requireClean(key);
  if (!STRUCTURED.has(provider) || !key.startsWith('{')) return { apiKey: key, region: undefined };
  const parsed = StructuredKey.safeParse(parseJson(key));
  if (!parsed.success || hasRepetition(key)) {
    throw new AdminError(
      'invalid_input',
      'key: a structured key is JSON with exactly "api_key" and "region", each once',
    );
  }
  requireClean(parsed.data.api_key);
  return { apiKey: parsed.data.api_key, region: parsed.data.region };
}

function requireClean(key: string): void {
  if (!NOT_A_KEY.test(key)) return;
  throw new AdminError(
    'invalid_input',
    'key: must have no control characters, and no white space at either end',
  );
}

/** Two names and two values: one more string is a member that is given twice, of which JSON.parse took the last. */
function hasRepetition(text: string): boolean {
  return text.match(/"(?:[^"\\]|\\.)*"/g)?.length !== 4;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks a region that the caller declares. `null` (undeclared) is always allowed. */
export function requireDeclarable(
  provider: Provider,
  region: DeclaredRegion | null,
  ofKey: DeclaredRegion | undefined,
): void {
  if (region === null) return;
  const allowed = STRUCTURED.has(provider) ? [ofKey ?? 'global'] : DECLARABLE[provider];
  if (allowed === undefined || allowed.includes(region)) return;
  throw new AdminError(
    'invalid_input',
    `${provider} accepts ${allowed.join(' or ')} as declared_region here, not ${region}`,
  );
}
