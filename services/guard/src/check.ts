import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { exchangeOf } from '@ori/http/exchange';
import { valuesOf } from '@ori/http/raw-headers';
import { ProofError } from '@ori/proof/wire';
import type { Verifier } from '@ori/verifier';
import type { GuardConfig } from './config.ts';
import { identityOf } from './headers.ts';
import { type Head, prove } from './prove.ts';
import { refuse, send } from './refuse.ts';

export const CHECK_ROUTE = '{check}';

type CheckMode = Exclude<GuardConfig['mode'], 'proxy'>;

export interface CheckParts {
  readonly mode: CheckMode;
  readonly verifier: Verifier;
  readonly bodyBytesMax: number;
}

/** Authorizes a request for another proxy: 200 with the identity headers, once per proof, or a refusal. Needs the whole body. */
export function createCheck({ mode, verifier, bodyBytesMax }: CheckParts): RequestListener {
  async function check(req: IncomingMessage, res: ServerResponse): Promise<void> {
    exchangeOf(req).route = CHECK_ROUTE;
    let bytes = 0;
    const take = (chunk: Buffer): number => {
      bytes += chunk.length;
      return 0;
    };
    const settle = async () => {
      requireBody(req, bytes);
      requireNoIdentity(req.rawHeaders);
    };
    try {
      const proof = await prove(req, headOf(req, mode), { verifier, bodyBytesMax, take, settle });
      const headers = { ...Object.fromEntries(identityOf(proof)), 'cache-control': 'no-store' };
      send(res, { status: 200, headers, body: '' });
    } catch (error) {
      refuse(req, res, error);
    }
  }
  return (req, res) => void check(req, res);
}

/** Envoy repeats the method and path of the original request; the others state them in headers. */
function headOf(req: IncomingMessage, mode: CheckMode): Head {
  const { rawHeaders, method, url: target } = req;
  if (mode === 'ext_authz') return { rawHeaders, method, target };
  // A missing or repeated header gives a value that is neither a method nor a path that a proof can cover.
  const single = (name: string): string => {
    const values = valuesOf(req, name);
    return values.length === 1 ? (values[0] ?? '') : '';
  };
  return { rawHeaders, method: single('x-forwarded-method'), target: single('x-forwarded-uri') };
}

/**
 * A proxy that is not configured to pass the body sends an empty or truncated one. The client's real body would then reach
 * the daemon under a proof of the empty body, so an empty body is refused here.
 */
function requireBody(req: IncomingMessage, bytes: number): void {
  const isPartial = valuesOf(req, 'x-envoy-auth-partial-body').some((value) => value !== 'false');
  if (bytes === 0 || isPartial)
    throw new ProofError(
      'request_not_coverable',
      'the proxy did not pass the whole body, or the body is empty',
    );
}

/** A proxy that does not replace these, in each spelling, would pass them on to the daemon as the guard's. */
const IDENTITY = /^x[^a-z0-9]ori[^a-z0-9]verified[^a-z0-9]/i;

function requireNoIdentity(rawHeaders: readonly string[]): void {
  if (rawHeaders.some((name, at) => at % 2 === 0 && IDENTITY.test(name)))
    throw new ProofError('request_not_coverable', 'the client sent a header of the form x-ori-verified-…');
}
