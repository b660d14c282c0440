import { execFile } from 'node:child_process';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { freePort } from '@ori/test-env/ports';
import { expect, test } from 'vitest';
import { INTERN_ID, openSignedInWorld } from '../../e2e/cli-world.ts';

/** The program of @modelcontextprotocol/conformance, and the origin of the server that its repository has for it. */
const { MCP_CONFORMANCE: suite, MCP_SERVER: origin } = process.env;
if (!suite || !origin) console.warn('Skipped: the suite of MCP, which test/conformance/README.md describes.');

test.skipIf(!suite || !origin)(
  'the conformance suite of MCP passes through ori proxy and the guard as it does without them',
  { timeout: 200_000 },
  async () => {
    const { world, home } = await openSignedInWorld();
    const env = { GUARD_INTERN_ID: INTERN_ID, GUARD_DAEMON_URL: String(origin) };
    await using guarded = await openGuardWorld({ env, jwks: world.jwks });
    const port = String(await freePort());
    // The suite also sends what a page of the same origin would.
    const options = ['--port', port, '--allow-origin', `http://127.0.0.1:${port}`];
    const proxy = home.start(['proxy', INTERN_ID, ...options], {
      stdin: null,
      env: { ORI_DAEMON_URL: guarded.guard.url },
    });
    try {
      let address = '';
      for await (const chunk of proxy.child.stdout ?? []) {
        address += chunk;
        if (address.includes('\n')) break;
      }
      const args = [String(suite), 'server', '--url', `${address.trim()}/mcp`];
      const said = await new Promise<string>((resolve) => {
        execFile(process.execPath, args, (_error, stdout) => resolve(stdout));
      });
      expect(said).toMatch(/\nTotal: [1-9]\d* passed, 0 failed\n/);
    } finally {
      proxy.child.kill('SIGINT');
      await proxy.result;
    }
  },
);
