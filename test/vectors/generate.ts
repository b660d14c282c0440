import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { coverageScenarios } from './generator/coverage.ts';
import { curveScenarios } from './generator/curve.ts';
import { fieldScenarios } from './generator/fields.ts';
import { headerScenarios } from './generator/headers.ts';
import { keyScenarios } from './generator/keys.ts';
import { orderScenarios } from './generator/order.ts';
import { replayScenarios } from './generator/replays.ts';
import { requestScenarios } from './generator/requests.ts';
import { fileName, render, type Scenario } from './generator/scenario.ts';
import { timeScenarios } from './generator/times.ts';
import { versionScenarios } from './generator/versions.ts';

export const VECTORS_FOLDER = join(import.meta.dirname, 'proofs');

export const SCENARIOS: readonly Scenario[] = [
  ...headerScenarios,
  ...fieldScenarios,
  ...versionScenarios,
  ...requestScenarios,
  ...timeScenarios,
  ...keyScenarios,
  ...curveScenarios,
  ...coverageScenarios,
  ...orderScenarios,
  ...replayScenarios,
];

/** File name -> text of every vector. Throws when two scenarios ask for the same name. */
export function vectorFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const scenario of SCENARIOS) {
    const name = fileName(scenario);
    if (files.has(name)) throw new Error(`two scenarios are called ${name}`);
    files.set(name, render(scenario));
  }
  return files;
}

async function main(): Promise<void> {
  const files = vectorFiles();
  await mkdir(VECTORS_FOLDER, { recursive: true });
  for (const name of await readdir(VECTORS_FOLDER)) {
    if (!files.has(name)) await rm(join(VECTORS_FOLDER, name));
  }
  for (const [name, text] of files) await writeFile(join(VECTORS_FOLDER, name), text);
  console.log(`${files.size} vectors in ${VECTORS_FOLDER}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
