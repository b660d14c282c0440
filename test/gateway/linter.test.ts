import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { judgeGateway } from '../../services/ori/src/gateway-lint/judge.ts';
import { readConfiguration } from '../../services/ori/src/gateway-lint/nginx/files.ts';
import { makeOriHome } from '../e2e/cli-process.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/gateway');
const BAD = join(import.meta.dirname, 'bad');

/** What `ori doctor gateway` must find in each deliberately bad configuration. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'body-dropped.conf': ['body-dropped', 'body-length-set'],
  'body-set.conf': ['body-replaced'],
  'content-encoding-changed.conf': ['content-encoding-set'],
  'content-type-changed.conf': ['content-type-set'],
  'header-alias.conf': ['header-aliases', 'proof-header-set'],
  'header-dropped.conf': ['proof-header-set', 'proof-header-set'],
  'header-join.conf': ['proof-header-set'],
  'header-override.conf': ['proof-header-set'],
  'headers-not-passed.conf': ['headers-dropped', 'content-type-set'],
  'internal-redirect.conf': ['path-redirected'],
  'location-captures.conf': ['path-computed'],
  'merged-uri.conf': ['path-computed'],
  'method-changed.conf': ['method-set'],
  'mirrored.conf': ['sent-twice'],
  'proxy-pass-uri.conf': ['path-replaced'],
  'query-added.conf': ['query-set'],
  'rewrite.conf': ['path-rewritten'],
  'sent-again.conf': ['retried'],
  'sub-path-strip.conf': ['path-replaced'],
};

// The site's files are at their installed paths.
async function judge(file: string) {
  const { directives } = await readConfiguration(file, { skipMissing: true });
  const { findings, routes } = judgeGateway(directives);
  return { rules: findings.map(({ rule }) => rule), passesOn: routes > 0 };
}

it.each(Object.entries(EXPECTED))('flags %s with %j', async (name, rules) => {
  expect(await judge(join(BAD, name))).toEqual({ rules, passesOn: true });
});

it('knows every bad configuration', () => {
  expect(readdirSync(BAD).filter((name) => name.endsWith('.conf'))).toEqual(Object.keys(EXPECTED));
});

it.each(['nginx.conf', 'daemon.conf'])('finds nothing in the shipped %s', async (name) => {
  expect(await judge(join(SHIPPED, name))).toEqual({ rules: [], passesOn: true });
});

it('reports the faults of a bad configuration and none in a shipped one, and exits accordingly', async () => {
  await using home = await makeOriHome();
  const clean = await home.ori(['doctor', 'gateway', join(SHIPPED, 'daemon.conf'), '--skip-missing']);
  expect(clean).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^Nothing found in 1 route in \d+ files\./),
  });
  expect(clean.stderr).toContain('site/daemons.conf');
  const bad = await home.ori(['doctor', 'gateway', join(BAD, 'proxy-pass-uri.conf'), '--skip-missing']);
  expect(bad.exit).toBe(1);
  expect(bad.stdout).toMatch(/proxy-pass-uri\.conf:\d+: error path-replaced\n {4}proxy_pass http:.*;\n/);
  expect(bad.stderr).toContain('1 error');
});
