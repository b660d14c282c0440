import type { ProofHeaderValues, VerificationKey } from '@ori/proof';
import { KeyError, parseJwkSet } from '@ori/proof';
import { createRootedSetReader, type RootedSet, type RootRules } from '@ori/proof/rooted-set';
import { readKeySet } from '../adapters/key-set.ts';
import { CliError } from '../core/errors.ts';
import type { ProofRequest } from '../core/proof-request.ts';
import { callOf, isSignedBy } from '../core/signed-by.ts';

/** The public keys of roots, as a profile keeps them. @throws KeyError for what is no Ed25519 key */
export function rootsOf(roots: readonly string[]): readonly VerificationKey[] {
  const keys = roots.map((x) => ({ kty: 'OKP', crv: 'Ed25519', x }));
  return parseJwkSet({ keys }, ({ error }) => {
    throw error;
  });
}

/** What a root vouches for, of one intern. It remembers the newest set, to refuse an older one. */
interface Reader {
  readonly read: ReturnType<typeof createRootedSetReader>;
  set?: RootedSet;
}
const readers = new Map<string, Reader>();

/**
 * Requires a proof of the signer that a key signed for which a root vouches, over exactly what was asked for.
 *
 * @throws CliError `root_vouches_not`, and the errors of reading the key set
 */
export async function requireVouched(
  { roots, baseUrl }: { readonly roots: readonly string[]; readonly baseUrl: string },
  request: ProofRequest,
  proof: ProofHeaderValues,
  signal: AbortSignal,
): Promise<void> {
  const { internId } = request;
  const name = [baseUrl, internId, ...roots].join(' ');
  const rules: RootRules = { roots: rootsOf(roots), baseUrl, internId };
  const reader = readers.get(name) ?? { read: createRootedSetReader(rules) };
  readers.set(name, reader);
  const call = callOf(request, proof);
  const isVouched = () =>
    reader.set !== undefined && Date.now() < reader.set.until && isSignedBy(reader.set.keys, call) === true;
  if (isVouched()) return;
  const published = await readKeySet(baseUrl, internId, signal);
  if (published === undefined) throw vouchesNot(baseUrl, 'there is no key set');
  try {
    reader.set = reader.read({ ...published, now: Date.now() });
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw vouchesNot(baseUrl, error);
  }
  if (!isVouched()) throw vouchesNot(baseUrl, 'no key of the key set made it');
}

/** @param why a text, or an error of what was published */
export function vouchesNot(baseUrl: string, why: unknown): CliError {
  const told =
    why instanceof KeyError ? `${why.message} (${why.code})` : why instanceof Error ? why.message : why;
  return new CliError('root_vouches_not', { baseUrl, why: String(told) });
}
