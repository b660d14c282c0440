import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { wingFolders } from './test/check/wings.ts';
import { Progress } from './test/env/progress.ts';

const listed = execFileSync('git', [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  'libs',
  'services',
]);
/** The tests of wings: `npm test` runs those of the core. */
const wings = [
  ...wingFolders(listed.toString().trim().split('\n').filter(existsSync)).map(
    (wing) => `${wing}/**/*.test.ts`,
  ),
  'test/wings/**/*.test.ts',
];

const everything = ['libs/*/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/**/*.test.ts'];

/** `npm run test:deep`: what ships, what only a process or a shell shows, what takes long, or needs a machine to itself. */
const deep = [
  'test/conformance/**/!(vectors).test.ts',
  'test/{client,deploy,env,faults,fuzz,gateway,hardening,leaks,package,prometheus}/**/*.test.ts',
  'test/{runtimes,shipped,turns}/**/*.test.ts',
  'test/contract/plans.test.ts',
  'test/contract/operations/{causes,process}.test.ts',
  'test/contract/sign/500-internal-error.test.ts',
  'test/contract/management/matrix/forgetful.test.ts',
  'test/vectors/store-wire.test.ts',
  'libs/internal/store/src/open-pglite.test.ts',
  'libs/public/proof/src/engines.test.ts',
  'libs/public/verifier/src/replay/redis/{faults,recipes}.test.ts',
  'services/standalone/src/open-store.test.ts',
  'test/e2e/cli-{completion,install,keychain,process,tls}.test.ts',
  'test/e2e/{foreign-providers,ori-admin-process,ori-admin-readme,ori-admin-root,pages,readme-clone}.test.ts',
  'test/e2e/{standalone,standalone-backends}.test.ts',
];

/** Part of the deep tier: judges how a service behaves under load, and so must be the only load there is. */
const alone = ['test/faults/{matrix,cold-start}.test.ts', 'test/shipped/operations.test.ts'];

/** `npm run test:lab`: what a change of the protocol, or of its cost, is tested with. */
const lab = ['test/lab/**/*.test.ts'];

/** Part of it that must be the only load there is. */
const labAlone = ['test/lab/exactly-once/harness.test.ts', 'test/lab/siege/siege.test.ts'];

/** What takes longest, which begins first: what began last would run alone, while the other workers have nothing to do. */
const longest = [
  'test/runtimes/runtimes',
  'test/shipped/stack',
  'test/e2e/readme-clone',
  'test/wings/transparency/litewitness',
  'test/conformance/replay-stores',
  'test/prometheus/rules',
  'test/deploy/image/image.test',
  'test/conformance/daemon/daemons',
  'test/wings/ports/ports',
  'test/e2e/pages',
  'test/e2e/foreign-providers',
  'test/fuzz',
  'test/deploy/bundle/executable',
  'test/lab/mutation/sample',
  'test/conformance/guard-daemons',
  'test/client/client',
  'test/wings/exactly-once/answers',
  'test/lab/model/model',
  'test/contract/management/matrix',
  'test/e2e/standalone.test',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.includes(name));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Part of the deep tier: the contract of the signer once more, against what ships. */
const dist = [
  'test/contract/{any-route,protected-resource}/*.test.ts',
  'test/contract/jwks/304-*.test.ts',
  'test/contract/sign/{200-proof,400,401-bearer,403,404,413,415,429}*.test.ts',
];

/** Part of the deep tier: the roles and policies in the database of the demo. */
const embedded = ['libs/internal/store/src/privileges/read-privileges.test.ts'];

/** Replaces a module of Node for itself, or waits for a warning that a process gives once: shares its process with no file. */
const isolated = [
  'services/signer/src/effects/audit-file-partial.test.ts',
  'libs/public/verifier/src/keys/rooted.test.ts',
  'libs/internal/runtime/src/follow-files.test.ts',
  'libs/internal/runtime/src/listen-alone.test.ts',
];

/** Where the results are written as JSON too. */
const report = process.env['TEST_REPORT'];

/** Tests break what a verifier depends on, by the hundred; those of its warnings listen for them. */
const execArgv = ['--disable-warning=OriVerifierWarning'];
/** What a test waits for may take long while other files run. */
const limits = { testTimeout: 60_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } }, execArgv };
/** Files share the processes that they run in: loading the services anew for each file took longer than the tests. */
const quick = { isolate: false, maxWorkers: 3, ...limits };
/** Many of these files wait for processes and clocks, most of the time. */
const slow = { isolate: false, maxWorkers: 5, sequence: { groupOrder: 1 }, ...limits };
const last = { isolate: false, maxWorkers: 1, sequence: { groupOrder: 2 }, ...limits };
const without = (...others: readonly string[][]) => [...configDefaults.exclude, ...others.flat()];

export default defineConfig({
  test: {
    globalSetup: ['test/env/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    reporters:
      report === undefined
        ? ['default', new Progress()]
        : ['default', new Progress(), ['json', { outputFile: report }]],
    projects: [
      {
        test: { name: 'quick', include: everything, exclude: without(deep, lab, isolated, wings), ...quick },
      },
      { test: { name: 'isolated', include: isolated, ...quick, isolate: true } },
      { test: { name: 'wings', include: wings, ...slow } },
      {
        test: {
          name: 'mcp-matrix',
          include: ['test/wings/mcp/matrix/matrix.ts', 'test/wings/languages/mcp-sessions.ts'],
          ...last,
        },
      },
      { test: { name: 'deep', include: deep, exclude: without(alone), ...slow } },
      { test: { name: 'dist', include: dist, env: { CONTRACT: 'shipped' }, ...slow } },
      { test: { name: 'embedded', include: embedded, env: { STORE: 'pglite' }, ...slow } },
      { test: { name: 'lab', include: lab, exclude: without(labAlone), ...slow } },
      { test: { name: 'alone', include: alone, ...last } },
      { test: { name: 'lab-alone', include: labAlone, ...last } },
    ],
  },
});
