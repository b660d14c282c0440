import { expect, test } from 'vitest';
import { judgeImports } from './import-rules.ts';

const file = (path: string, ...specifiers: string[]) => ({
  path,
  text: specifiers.map((specifier) => `import { x } from '${specifier}';`).join('\n'),
});

test.each([
  ['a library, a service', 'libs/http/src/server.ts', '@ori/signer'],
  ['a command, a service', 'libs/cli/src/commands/call.ts', '@ori/management/config'],
  ['a library, a command', 'libs/store/src/index.ts', '@ori/cli'],
  ['a command, the other', 'libs/admin/src/program.ts', '@ori/cli'],
  ['a service, another', 'services/management/src/http/app.ts', '@ori/signer/config'],
  ['a service, a command', 'services/signer/src/main.ts', '@ori/admin'],
  ['the standalone, a command', 'services/standalone/src/main.ts', '@ori/cli'],
  ['the product, its tests', 'libs/http/src/server.ts', '../../../test/env/ports.ts'],
  ['the product, its tests by name', 'libs/http/src/server.ts', '@ori/test-env/ports'],
  ['a stage, an adapter', 'services/signer/src/stages/record.ts', '../adapters/audit-file.ts'],
  ['a stage, a driver', 'services/signer/src/stages/record.ts', 'ioredis'],
  ['a stage, the HTTP edge', 'services/signer/src/stages/record.ts', '@ori/http/server'],
  ['a shape, files', 'services/management/src/interns/shape.ts', 'node:fs'],
  ['a decision of the CLI, files', 'libs/cli/src/core/session.ts', 'node:fs/promises'],
  ['the wire format, Node', 'libs/proof/src/headers.ts', 'node:buffer'],
  ['an adapter, presentation', 'services/signer/src/adapters/nonces.ts', '../http/presentations.ts'],
  ['a package, the inside of another', 'libs/http/src/server.ts', '../../runtime/src/log.ts'],
])('%s: is reported', (_what, path, specifier) => {
  expect(judgeImports([file(path, specifier)])).toEqual([expect.stringContaining(path)]);
});

test('a dependency cycle of packages is reported', () => {
  const files = [file('libs/http/src/a.ts', '@ori/redis'), file('libs/redis/src/b.ts', '@ori/http/server')];
  expect(judgeImports(files)).toEqual([expect.stringContaining('libs/http -> libs/redis -> libs/http')]);
});

test.each([
  ['services/signer/src/stages/check-host.ts', '@ori/http/regional-host'],
  ['services/signer/src/stages/record.ts', './signing-error.ts'],
  ['services/standalone/src/standalone.ts', '@ori/signer'],
  ['services/signer/src/start-signer.ts', './http/signer-app.ts'],
  ['libs/http/src/server.test.ts', '../../../test/env/ports.ts'],
])('%s may import %s', (path, specifier) => {
  expect(judgeImports([file(path, specifier)])).toEqual([]);
});
