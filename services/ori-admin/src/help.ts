import { describeSettings } from '@ori/runtime/describe-settings';
import { ADMIN_SPEC } from './config.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';

const EXIT_CODES = [
  'Exit codes:',
  ...EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
];

export const MAIN_HELP = `
Examples:
  ori-admin migrate
  org=$(ori-admin org create "Analytical Engines")
  ws=$(ori-admin workspace create Workshop --organization "$org" --default --programme)
  ori-admin key create --kind api --workspace "$ws" --name ci --out ci.key
  ori-admin intern list --workspace "$ws" --json

A command prints only its result on stdout, such as a new id or secret. Messages go to stderr.

Environment (each command requires only what it needs):

${describeSettings('ORI_ADMIN', ADMIN_SPEC)}
${EXIT_CODES.join('\n')}`;

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
