import { expect, test } from 'vitest';
import { judgeImports, type Package, type SourceFile } from './import-rules.ts';

const PACKAGES: readonly Package[] = [
  { name: '@ori/proof', folder: 'libs/public/proof', exports: { '.': './src/index.ts' } },
  {
    name: '@ori/http',
    folder: 'libs/internal/http',
    exports: { './server': './src/server/server.ts', './regional-host': './src/ground/regional-host.ts' },
  },
  {
    name: '@ori/store',
    folder: 'libs/internal/store',
    exports: { './facts': './src/facts.ts', './admin': './src/admin.ts' },
  },
  { name: '@ori/turns', folder: 'libs/internal/turns', exports: { './redis': './src/redis/connection.ts' } },
  { name: '@ori/signer', folder: 'services/signer', exports: { '.': './src/start-signer.ts' } },
  { name: '@ori/kms-agent', folder: 'services/kms-agent', exports: { '.': './src/start-agent.ts' } },
  { name: '@ori/cli', folder: 'services/ori', exports: { '.': './src/program.ts' } },
];

const judge = (files: readonly SourceFile[]) => judgeImports(files, PACKAGES);

const file = (path: string, ...specifiers: string[]): SourceFile => ({
  path,
  text: specifiers.map((specifier) => `import { x } from '${specifier}';`).join('\n'),
});

test.each([
  ['public, internal', 'libs/public/verifier/src/verifier.ts', '@ori/http/server'],
  ['internal, a service', 'libs/internal/http/src/server/server.ts', '@ori/signer'],
  ['a command, the other', 'services/ori-admin/src/program.ts', '@ori/cli'],
  ['a service, another', 'services/management/src/http/app.ts', '@ori/kms-agent'],
  ['a service, a command', 'services/signer/src/main.ts', '@ori/cli'],
  ['the standalone, a command', 'services/standalone/src/main.ts', '@ori/cli'],
  ['the product, its tests', 'libs/internal/http/src/server/server.ts', '../../../../../test/env/ports.ts'],
  ['the product, its tests by name', 'libs/internal/http/src/server/server.ts', '@ori/test-env/ports'],
  ['a stage, an adapter', 'services/signer/src/core/stages/record.ts', '../../effects/audit-file.ts'],
  ['a stage, a driver', 'services/signer/src/core/stages/record.ts', 'ioredis'],
  ['a stage, the making of evidence', 'services/signer/src/core/stages/record.ts', './evidence.ts'],
  ['the pipeline, the making of evidence', 'services/signer/src/core/sign-proof.ts', './stages/evidence.ts'],
  ['the pipeline, the making of a result', 'services/signer/src/core/sign-proof.ts', './stages/stage.ts'],
  ['a shape, files', 'services/management/src/interns/shape.ts', 'node:fs'],
  ['a decision of the CLI, files', 'services/ori/src/core/session.ts', 'node:fs/promises'],
  ['the wire format, Node', 'libs/public/proof/src/headers.ts', 'node:buffer'],
  ['an adapter, presentation', 'services/signer/src/effects/nonces.ts', '../edge/presentations.ts'],
  ['the edge, what operators watch', 'services/signer/src/edge/sign-route.ts', '../ops/kek-watch.ts'],
  ['the ground floor of http, another', 'libs/internal/http/src/ground/body.ts', '../overload/admission.ts'],
  ['overload, the server', 'libs/internal/http/src/overload/admission.ts', '../server/server.ts'],
  ['a subject of management, http', 'services/management/src/byok/operations.ts', '../http/app.ts'],
  ['shared types, a query', 'libs/internal/store/src/facts.ts', './admin.ts'],
  [
    'a package, the inside of another',
    'libs/internal/http/src/server/server.ts',
    '../../../runtime/src/log.ts',
  ],
])('%s: is reported', (_what, path, specifier) => {
  expect(judge([file(path, specifier)])).toEqual([expect.stringContaining(path)]);
});

test.each([
  `const fs = import(\`node:fs\`);`,
  `const fs = import(name);`,
  `import fs from "node:fs";`,
  `const a = 1; import fs from 'node:fs';`,
  `import fs = require('node:fs');`,
  `const fs = process.getBuiltinModule('node:fs');`,
  `const fs = globalThis['process'];`,
  `const answer = fetch(url);`,
])('a stage that reaches what does I/O is reported: %s', (text) => {
  const path = 'services/signer/src/core/stages/record.ts';
  expect(judge([{ path, text }])).toEqual([expect.stringContaining(path)]);
});

test.each([
  ['return made<Entry>({ order });', 1],
  ['const make = made;', 1],
  ['return made({ proof });', 1],
  ['export interface Entry extends Made<0> {}\nreturn made<Entry>({ order });', 0],
])('a stage that makes what another one declares is reported: %s', (code, count) => {
  const text = `import { type Made, made } from './stage.ts';\n${code}`;
  expect(judge([{ path: 'services/signer/src/core/stages/record.ts', text }])).toHaveLength(count);
});

test.each(['export async function record() {}', 'export function record(): Promise<void> {}'])(
  'a stage that waits is reported: %s',
  (text) => {
    const path = 'services/signer/src/core/stages/record.ts';
    expect(judge([{ path, text }])).toEqual([`${path}: a stage is synchronous`]);
  },
);

test('a circle of packages is reported', () => {
  const files = [
    file('libs/internal/http/src/a.ts', '@ori/turns/limiter'),
    file('libs/internal/turns/src/b.ts', '@ori/http/server'),
  ];
  expect(judge(files)).toEqual([
    expect.stringContaining('libs/internal/http -> libs/internal/turns -> libs/internal/http'),
  ]);
});

test('a circle of files is reported', () => {
  const files = [file('services/log/src/a.ts', './b.ts'), file('services/log/src/b.ts', './a.ts')];
  expect(judge(files)).toEqual([expect.stringContaining('services/log/src/a.ts -> services/log/src/b.ts')]);
});

test('an entry of an internal package that only re-exports is reported', () => {
  const store = {
    name: '@ori/store',
    folder: 'libs/internal/store',
    exports: { './admin': './src/admin.ts' },
  };
  const entry = (text: string) => [{ path: 'libs/internal/store/src/admin.ts', text }];
  const barrel = `export * from './a.ts';\nexport { b, type C } from './b.ts';`;
  expect(judgeImports(entry(barrel), [store])).toEqual([expect.stringContaining('is a barrel')]);
  expect(judgeImports(entry(`${barrel}\nexport const d = 1;`), [store])).toEqual([]);
});

test('the core loads a wing where it is used, and imports none', () => {
  const wings = ['services/ori/src/log'];
  const core = (text: string) => [{ path: 'services/ori/src/commands/a.ts', text }];
  const judged = (text: string) => judgeImports(core(text), [], wings);
  expect(judged(`import { a } from '../log/a.ts';`)).toEqual([expect.stringContaining('imports no wing')]);
  expect(judged(`const { a } = await import('../log/a.ts');`)).toEqual([]);
  expect(judged(`import type { A } from '../log/a.ts';`)).toEqual([]);
  expect(judgeImports([{ path: 'services/ori/src/log/b.ts', text: `import './a.ts';` }], [], wings)).toEqual(
    [],
  );
});

test('an internal package has no entry for everything', () => {
  const store = { name: '@ori/store', folder: 'libs/internal/store', exports: { '.': './src/index.ts' } };
  expect(judgeImports([], [store])).toHaveLength(1);
});
