import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const PROGRAM = new URL('../bin/check-node.js', import.meta.url).pathname;

function check(installing: string, running = process.version) {
  const pretend = `data:text/javascript,Object.defineProperty(process,'version',{value:'${running}'})`;
  const env = { npm_config_user_agent: `npm/11.0.0 node/${installing} linux x64 workspaces/false` };
  const { status, stderr } = spawnSync(process.execPath, ['--import', pretend, PROGRAM], { env });
  return { status, lines: String(stderr).split('\n').slice(0, -1) };
}

it('prints in one line which Node will run what an older one installed', () => {
  const { status, lines } = check('v20.19.0', 'v24.1.0');
  expect([status, lines.length]).toEqual([0, 1]);
  expect(lines[0]).toMatch(/v20\.19\.0.*v24\.1\.0/);
  expect(check('v24.1.0', 'v24.1.0')).toEqual({ status: 0, lines: [] });
});

it('fails in one line if the packages include no Node 24', () => {
  const { status, lines } = check('v20.19.0', 'v20.19.0');
  expect([status, lines.length]).toEqual([1, 1]);
  expect(lines[0]).toContain('https://nodejs.org');
});
