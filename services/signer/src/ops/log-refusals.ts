import { DpopError } from '@ori/identity/dpop/error';
import { IdentityError } from '@ori/identity/identity-error';
import type { Logger } from '@ori/runtime/log';
import type { signProof } from '../core/sign-proof.ts';
import { SigningError } from '../core/stages/signing-error.ts';
import { reasonOf } from '../edge/presentations.ts';

/** Wraps `signProof` to log each refusal at level `debug`: its reason, and the error's message, which quotes nothing from the request. */
export function logRefusals(log: Logger, sign: typeof signProof): typeof signProof {
  return async (call, parts) => {
    try {
      return await sign(call, parts);
    } catch (error) {
      const isOurs =
        error instanceof SigningError || error instanceof IdentityError || error instanceof DpopError;
      const why = isOurs ? error.message : undefined;
      log.debug({ requestId: call.requestId, reason: reasonOf(error), why }, 'signing refused');
      throw error;
    }
  };
}
