import { createInterface } from 'node:readline';
import { createSubject } from './subject.ts';

/** Our own verifier behind the protocol: one command and one answer per line. */
const ask = createSubject();
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await ask(JSON.parse(line)))}\n`);
}
