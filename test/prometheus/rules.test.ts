import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { findPrometheus, NO_PROMETHEUS } from '../env/prometheus-binaries.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/prometheus');
const binaries = findPrometheus();
if (!binaries) console.warn(`Skipped: the shipped rules are not run, because ${NO_PROMETHEUS}.`);

const { homepage } = JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8'));
const text = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const rules = text('alerts.rules.yml');
const readme = text('README.md');
const testFiles = readdirSync(join(FOLDER, 'tests'));
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

function promtool(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(binaries?.promtool ?? '', words, {
    cwd: FOLDER,
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}

describe.skipIf(!binaries)('promtool accepts', () => {
  it('the configuration and the rules that it loads', () => {
    const { status, said } = promtool('check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml');
    expect(status, said).toBe(0);
    expect(said).toContain('2 rule files found');
  });

  it.each(testFiles)('the cases of %s', { timeout: 120_000 }, (name) => {
    const { status, said } = promtool('test', 'rules', `tests/${name}`);
    expect(status, said).toBe(0);
  });
});

describe('every alert', () => {
  const cases = testFiles
    .flatMap((name) =>
      text(`tests/${name}`)
        .split(/^ {6}- alertname: /m)
        .slice(1),
    )
    .map((part) => ({ alert: /^\w+/.exec(part)?.[0], fires: !part.includes('exp_alerts: []') }));

  it.each(alerts)('%s has a case in which it fires, and one in which it does not', (alert) => {
    const own = cases.filter((one) => one.alert === alert);
    expect(own.some(({ fires }) => fires)).toBe(true);
    // The watchdog always fires.
    expect(own.some(({ fires }) => !fires)).toBe(alert !== 'OriWatchdog');
  });

  it('links to a section of the README, which has no other sections', () => {
    const page = `${homepage}/blob/HEAD/deploy/prometheus/README.md`;
    const sections = [...readme.matchAll(/^### (\w+)$/gm)].map(
      ([, name = '']) => `${page}#${name.toLowerCase()}`,
    );
    const links = [...rules.matchAll(/- alert: \w+[\s\S]*?runbook_url: (\S+)/g)].map(([, url]) => url);
    expect(links).toHaveLength(alerts.length);
    expect(new Set(links)).toEqual(new Set(sections));
  });
});

test('render.sh makes every runbook_url lead elsewhere', () => {
  const env = { ...process.env, RUNBOOKS: 'https://wiki.example/ori' };
  const { stdout } = spawnSync('sh', [join(FOLDER, 'render.sh'), 'alerts'], { encoding: 'utf8', env });
  const linked = [...stdout.matchAll(/runbook_url: (\S+)#(\w+)/g)].map(([, page, name]) => [page, name]);
  expect(linked).toHaveLength(alerts.length);
  expect(new Set(linked.map(([page]) => page))).toEqual(new Set(['https://wiki.example/ori']));
});

describe('the configuration of Alertmanager', () => {
  const { route, receivers, inhibit_rules: muting } = parse(text('alertmanager.yml'));
  const matched = (matchers: readonly string[]) =>
    matchers.flatMap((one) => /^alertname=~?"(.*)"$/.exec(one)?.[1]?.split('|') ?? []);

  it('names only alerts that exist, and receivers that it has', () => {
    const named = [
      ...route.routes.flatMap(({ matchers }: { matchers: string[] }) => matched(matchers)),
      ...muting.flatMap((rule: Record<string, string[]>) => [
        ...matched(rule['source_matchers'] ?? []),
        ...matched(rule['target_matchers'] ?? []),
      ]),
    ];
    expect(named.filter((name) => !alerts.includes(name))).toEqual([]);
    const used = [route, ...route.routes].map(({ receiver }: { receiver: string }) => receiver);
    expect(new Set(used)).toEqual(new Set(receivers.map(({ name }: { name: string }) => name)));
  });

  it('lets every page that another alert mutes wait for that one', () => {
    const targets = muting.flatMap((rule: Record<string, string[]>) =>
      matched(rule['target_matchers'] ?? []),
    );
    const waiting = route.routes.find(({ group_wait: wait }: { group_wait: string }) => wait === '25s');
    expect(targets.length).toBeGreaterThan(0);
    // This one looks at half a minute, in which its causes have fired.
    const waits = targets.filter((name: string) => name !== 'OriProofsStopped');
    expect(new Set(matched(waiting.matchers))).toEqual(new Set(waits));
  });
});
