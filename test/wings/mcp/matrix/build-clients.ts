import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLIENTS = fileURLToPath(new URL('clients/', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/mcp-matrix/', import.meta.url));

/** The clients for which there are tools on this machine, each with its newest SDK, and how to start them. */
export function buildClients(): Record<string, readonly string[]> {
  mkdirSync(CACHE, { recursive: true });
  const run = (command: string, args: readonly string[], cwd = CACHE) =>
    execFileSync('nice', ['-n', '15', command, ...args], { cwd, stdio: 'inherit' });
  const has = (command: string, argument: string) => spawnSync(command, [argument]).status === 0;
  const clients: Record<string, readonly string[]> = {
    TypeScript: [process.execPath, join(CLIENTS, 'client.mjs')],
  };
  if (has('python3', '--version')) {
    if (!existsSync(join(CACHE, 'python'))) run('python3', ['-m', 'venv', 'python']);
    run('python/bin/pip', ['install', '--quiet', '--upgrade', 'mcp']);
    clients['Python'] = [join(CACHE, 'python/bin/python'), join(CLIENTS, 'client.py')];
  }
  if (has('go', 'version')) {
    cpSync(join(CLIENTS, 'go'), join(CACHE, 'go'), { recursive: true });
    run('go', ['get', 'github.com/modelcontextprotocol/go-sdk@latest'], join(CACHE, 'go'));
    run('go', ['mod', 'tidy'], join(CACHE, 'go'));
    run('go', ['build', '-o', 'client', '.'], join(CACHE, 'go'));
    clients['Go'] = [join(CACHE, 'go/client')];
  }
  if (has('cargo', '--version')) {
    cpSync(join(CLIENTS, 'rust'), join(CACHE, 'rust'), { recursive: true });
    run('cargo', ['update', '--quiet'], join(CACHE, 'rust'));
    run('cargo', ['build', '--quiet'], join(CACHE, 'rust'));
    clients['Rust'] = [join(CACHE, 'rust/target/debug/matrix')];
  }
  return clients;
}
