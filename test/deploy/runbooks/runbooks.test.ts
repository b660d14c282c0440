import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findProgram } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { type Command, commandsOf } from './commands.ts';
import { openLayout } from './layouts.ts';

/** Compose too plays what does not depend on the layout: half a minute more. */
const ALL = process.env['RUNBOOKS'] === 'all';
const SAME = /#Ori|#What is wrong|#From a file|#Keys that sign/;

type Kind = 'systemd' | 'Compose';
const ADMIN = 'services/ori-admin/README.md';
const [TEAM = ''] = /^organizations:\n(?: {2}.*\n)+/m.exec(
  readFileSync(`${ROOT}${ADMIN}`, 'utf8').replaceAll(/^ {4}/gm, ''),
) ?? [''];
const COMMON = [
  ...commandsOf(ADMIN, [
    'From an empty database to a signed proof',
    'What is wrong',
    'From a file',
    'Keys that sign',
  ]),
  ...commandsOf(ADMIN, ['Keys that seal', 'Who changed what', 'The root']),
  ...commandsOf('deploy/prometheus/README.md', ['Ori*']),
  ...commandsOf('deploy/database/README.md', ['Backup', 'Restore', 'Upgrade', 'Rollback']),
];
const LAYOUTS = {
  systemd: [
    ...commandsOf('deploy/systemd/README.md', ['Install', 'Upgrade', 'Rotate the audit file']),
    ...COMMON,
  ],
  Compose: [
    ...commandsOf('deploy/docker/README.md', ['From nothing to a running deployment', 'Operation']),
    ...COMMON,
  ],
};

const FUNCTIONS = `
of_json() { node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).data$1"; }
kid() { ori-admin kek list signer --json | of_json "[$1].kid"; }
ring_is_read() { until ori-admin kek promote signer "$(kid 0)" --instances "$instances" > /dev/null 2>&1; do sleep 0.1; done; }
ring_seals() { until ori-admin kek reseal signer --instances "$instances" > /dev/null 2>&1; do sleep 0.1; done; }
`;

/** What a reader fills in. */
const FILLED: readonly (readonly [from: RegExp, to: string])[] = [
  [/(?:OLD-)?KID\b/g, '"$(kid 1)"'],
  [/\bKEY\b/g, '"$(ori-admin signing-key add "$intern")"'],
  [/\bINTERN\b/g, '"$intern"'],
  [/\bWORKSPACE\b/g, '"$ws"'],
  [/\bURL$/g, '"$probed"'],
  [/user_7Qm2/g, '"$ada"'],
  [/--instances (?:…|http:\S+)/g, '--instances "$instances"'],
  [/docker compose …/g, 'docker compose -f deploy/docker/compose.yaml'],
];

const EMPTY_DATABASE = `psql --quiet --dbname=postgres << 'END'
DROP DATABASE ori WITH (FORCE);
CREATE DATABASE ori OWNER ori;
REVOKE CONNECT ON DATABASE ori FROM PUBLIC;
GRANT CONNECT ON DATABASE ori TO operator_1, signer_1, management_1;
END
`;

/** What the text around a command says to do. */
const AROUND: readonly { readonly at: RegExp; readonly before?: string; readonly after?: string }[] = [
  { at: /kek generate signer --out .*secrets/, after: 'edit_settings\ncreate_secrets' },
  { at: /^systemctl enable --now ori-signer@1/, before: 'create_logins' },
  { at: /^org=/, before: 'cd "$RUNBOOK_HOST/work"' },
  { at: /exec -T postgres pg_restore/, before: EMPTY_DATABASE },
  { at: /openai\.key/, before: 'echo sk-proj-0123456789abcdefghijklmnop > openai.key' },
  {
    at: /audit list/,
    after: 'ori-admin audit list --json | of_json "[0].break_glass" | grep -x false && ! ori-admin migrate',
  },
  { at: /compare \/var\/lib/, before: 'systemctl start ori-audit-export' },
  { at: /apply -f team/, before: `cat > team.yaml << 'END'\n${TEAM}END\nmkdir -p keys` },
  { at: /apply -f canary/, before: 'cp "$RUNBOOK_HOST/checkout/deploy/prometheus/canary.yaml" .' },
  { at: /--token </, before: 'printf %s "$ORI_TOKEN" > token.txt' },
  {
    at: /kek generate signer --add-to/,
    before: 'install -m 0600 "$ring" signer-kek.json',
    after: 'put_ring',
  },
  { at: /kek promote/, before: 'ring_is_read', after: 'put_ring' },
  { at: /kek reseal/, before: 'ring_seals' },
  { at: /kek remove/, after: 'put_ring' },
  { at: /root state --all/, before: 'export ORI_ADMIN_KEYS_ROLE_FILE="$PWD/keys.json"' },
  {
    at: /root state --former/,
    before: `ori-admin root generate --out next-keys.json > next-keys.pub
      ori-admin root delegate keys --root root.json --key next-keys.pub >> delegations.jsonl
      export ORI_ADMIN_KEYS_ROLE_FILE="$PWD/next-keys.json"`,
  },
  { at: /backup\.sh/, before: 'cd "$RUNBOOK_HOST/checkout/deploy/database"', after: 'cd -' },
];

/** What is not played, and why. */
const NOT_PLAYED: readonly (readonly [command: RegExp, why: string, layout?: Kind])[] = [
  [/^export ORI_ADMIN|\$ORI_ADMIN_|^psql …|^ori-admin migrate$/, 'prepare.sh and ori-migrate have done it'],
  [/^ori login|--profile canary/, 'needs a browser: test/e2e'],
  [/ori-(?:gateway|canary|witness|guard@|kms-agent@)|ori-canary|witness/, 'a part with tests of its own'],
  [/gateway\.crt|HUP gateway|ssl\/api\.example/, 'the gateway: test/deploy/systemd/gateway.test.ts, image'],
  [/^kubectl/, 'a cluster: test/deploy/kubernetes/ori-admin.test.ts'],
  [/^systemctl|^journalctl|signer\.env/, 'only there', 'Compose'],
  [/backup\.sh/, 'its PostgreSQL is reached from its network alone', 'Compose'],
  [/^createdb|restore\.sh/, 'test/deploy/database/restore.test.ts'],
];

it.skipIf(!findProgram('psql') || !findProgram('pg_dump')).each<Kind>(['systemd', 'Compose'])(
  'every command of the runbooks runs as it is written: %s',
  async (kind) => {
    await using layout = await openLayout(kind);
    const lines: string[] = [layout.functions, FUNCTIONS, 'cd "$RUNBOOK_HOST/checkout"'];
    const played: Command[] = [];
    for (const command of LAYOUTS[kind]) {
      const filled = FILLED.reduce(
        (text, [from, to]) => text.replaceAll(from, to),
        layout.placed(command.text),
      );
      const isPlayed = NOT_PLAYED.every(
        ([pattern, , only = kind]) => only !== kind || !pattern.test(command.text),
      );
      const isLeft = kind === 'Compose' && !ALL && SAME.test(command.where);
      if (!isPlayed || isLeft || played.some(({ text }) => text === command.text)) continue;
      const around = AROUND.filter(({ at }) => at.test(command.text));
      const parts = [...around.map(({ before }) => before), filled, ...around.map(({ after }) => after)];
      const body = parts.filter(Boolean).map((part) => `{ ${part}\n}`);
      const number = played.push(command) - 1;
      lines.push(`{ ${body.join(' && ')}; } > "$RUNBOOK_HOST/run/${number}.txt" 2>&1 || echo ${number}`);
    }
    await writeFile(join(layout.folder, 'script.sh'), lines.join('\n'));
    const { stdout } = await promisify(execFile)('bash', [join(layout.folder, 'script.sh')], {
      env: layout.environment,
    });
    const failed = stdout.split('\n').filter(Boolean).map(Number);
    const failures = failed.map(async (number) => {
      const output = await readFile(join(layout.folder, 'run', `${number}.txt`), 'utf8');
      return { ...played[number], output };
    });
    expect(await Promise.all(failures)).toEqual([]);
    expect(played.length).toBeGreaterThan(ALL ? 40 : 25);
  },
  240_000,
);

it('leaves out no command that the documents no longer have', () => {
  const texts = [...LAYOUTS.systemd, ...LAYOUTS.Compose].map(({ text }) => text);
  const patterns = [...NOT_PLAYED.map(([pattern]) => pattern), ...AROUND.map(({ at }) => at)];
  expect(patterns.filter((pattern) => !texts.some((text) => pattern.test(text)))).toEqual([]);
});
