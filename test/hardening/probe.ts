import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import process from 'node:process';
import v8 from 'node:v8';

/**
 * Loaded into the signer's process before its main program: tries everything that the signer never does, and prints
 * one line `{"probe":{"<attempt>":"allowed" | "<code or class of the error>"}}`. `PROBE_OUTSIDE` names a folder with a
 * file `secret` that the signer must not access.
 */
const outside = process.env['PROBE_OUTSIDE'] ?? '';
const audit = process.env['SIGNER_AUDIT_FILE'] ?? '';
const secret = `${outside}/secret`;

const attempts: Record<string, () => unknown> = {
  'read a file': () => fs.readFileSync(secret),
  'read the environment as a file': () => fs.readFileSync('/proc/self/environ'),
  'read the audit file': () => fs.readFileSync(audit),
  'write a file': () => fs.writeFileSync(`${outside}/written`, ''),
  'write a file beside the audit file': () => fs.writeFileSync(`${audit}.1`, ''),
  'link to a file': () => fs.symlinkSync(secret, `${outside}/link`),
  'open a SQLite database': async () => {
    const { DatabaseSync } = await import('node:sqlite');
    new DatabaseSync(`${outside}/database`).close();
  },
  'write a heap snapshot': () => v8.writeHeapSnapshot(`${outside}/heap`),
  'run a program': () => execFileSync('/bin/true'),
  'start a thread': async () => {
    const { Worker } = await import('node:worker_threads');
    await new Worker('', { eval: true }).terminate();
  },
  'load an addon': () => process.dlopen({ exports: {} }, `${outside}/addon.node`),
  'run WASI': async () => {
    const { WASI } = await import('node:wasi');
    new WASI({ version: 'preview1' });
  },
  'open the inspector': async () => {
    const inspector = await import('node:inspector');
    inspector.open(0);
    inspector.close();
  },
  'reach an internal binding': () => Reflect.get(process, 'binding').call(process, 'fs'),
  'evaluate a string': () => Reflect.get(globalThis, 'eval')('1'),
  'make a function after changing the flags of V8': () => {
    v8.setFlagsFromString('--no-disallow-code-generation-from-strings');
    Reflect.construct(Function, ['return 1']);
  },
  'reach a prototype by __proto__': () => {
    if (!('__proto__' in Object.prototype)) throw new TypeError('there is no __proto__');
  },
};

async function outcomeOf(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return 'allowed';
  } catch (error) {
    if (!(error instanceof Error)) return 'unknown';
    return 'code' in error ? String(error.code) : error.name;
  }
}

const outcomes: Record<string, string> = {};
for (const [name, attempt] of Object.entries(attempts)) outcomes[name] = await outcomeOf(attempt);
process.stdout.write(`${JSON.stringify({ probe: outcomes })}\n`);
