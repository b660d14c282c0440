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
  ORI_ADMIN_DATABASE_URL   PostgreSQL address of an operator's login; or ORI_ADMIN_DATABASE_URL_FILE
  ORI_ADMIN_SIGNER_KEK_FILE, ORI_ADMIN_MANAGEMENT_KEK_FILE
                           the rings of key-encryption keys, one for each service
  ORI_ADMIN_ISSUER         the OpenID issuer, exactly as the services have it
  ORI_ADMIN_BASE_URL       the public base address, ending in /v1, exactly as the signer has it

${EXIT_CODES.join('\n')}`;

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
