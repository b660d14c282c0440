import { answer } from '../../env/worker.ts';
import { type Counted, readMeter } from './meter.ts';
import { BODY, createProof, openVerifier, PATH } from './proofs.ts';

// The process of a metered verifier: verifies so many new proofs, and replies with the counts before and after.

const { verifier, now } = openVerifier();

answer<{ calls: number; counted: Counted }>(async ({ calls, counted }) => {
  const request = { method: 'POST', target: PATH, body: BODY };
  const requests = Array.from({ length: calls }, () => ({ ...request, ...createProof(now()) }));
  const before = readMeter(counted);
  for (const one of requests) await verifier.verify(one);
  return { before, after: readMeter(counted) };
});
