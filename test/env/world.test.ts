import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { reasonOf, startWorld } from './world.ts';

test.each([{ process: false }, { process: true }])(
  'a world signs ($process: as a process)',
  async (options) => {
    await using world = await startWorld(options);
    const reply = await world.sign();
    expect(reply.status).toBe(200);
    expect(Object.keys(JSON.parse(reply.text))).toContain('x-ori-invoke-signature-v2');
    expect((await world.audit()).trim().split('\n')).toHaveLength(1);
    expect((await world.sign({ bearer: world.issuer.opaqueToken() })).status).toBe(200);
    expect(reasonOf(await world.sign({ bearer: world.demo.apiKey }))).toBe('personal_identity_required');
  },
);

test('a world also works in a plain script, with its own servers', async () => {
  const script = `
    const { startWorld } = await import('./world.ts');
    await using world = await startWorld({ process: true });
    console.log((await world.sign()).status);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
  });
  expect(stdout).toBe('200\n');
});
