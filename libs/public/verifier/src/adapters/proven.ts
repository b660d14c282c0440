import type { Proven } from './guard.ts';

const provenRequests = new WeakMap<object, Proven<Buffer>>();

export function keepProven(request: object, proven: Proven<Buffer>): void {
  provenRequests.set(request, proven);
}

/**
 * The proof and the signed bytes of a request that `requireProof` let through.
 * @throws {TypeError} it did not: the route is not guarded.
 */
export function provenOf(request: object): Proven<Buffer> {
  const proven = provenRequests.get(request);
  if (proven === undefined) throw new TypeError('provenOf: requireProof does not guard this route');
  return proven;
}
