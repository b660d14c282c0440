import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A port and how to run it, if its toolchain is installed. */
export interface Port {
  readonly name: string;
  /** The command that answers the conformance protocol. */
  readonly conform: readonly string[];
  /** The command that starts its daemon, which prints its address. */
  readonly daemon: (internId: string, jwksUrl: string, ...roots: readonly string[]) => readonly string[];
}

const PYTHON = join(import.meta.dirname, 'python');
const GO = join(import.meta.dirname, 'go');

/** Builds the ports. Skips a port whose toolchain is not installed, with a message (`npm run setup -- --deep` installs it). */
export function openPorts(): Port[] {
  return [openPython(), openGo()].filter((port) => port !== undefined);
}

function openPython(): Port | undefined {
  const python = pythonWith('cryptography');
  if (python === undefined) return missing('Python', 'python3-cryptography');
  return {
    name: 'Python',
    conform: [python, join(PYTHON, 'conform.py')],
    daemon: (internId, jwksUrl, ...roots) => [
      python,
      join(PYTHON, 'daemon.py'),
      internId,
      jwksUrl,
      '0',
      ...roots,
    ],
  };
}

/** The Python package under uvicorn, of class _request_. It answers no conformance protocol of its own. */
export function openAsgi(): Pick<Port, 'name' | 'daemon'> | undefined {
  const python = pythonWith('cryptography', 'uvicorn');
  if (python === undefined) return missing('ASGI', 'python3-uvicorn');
  const daemon: Port['daemon'] = (internId, jwksUrl) => [
    python,
    join(PYTHON, 'asgi.py'),
    internId,
    jwksUrl,
    '0',
  ];
  return { name: 'ASGI', daemon };
}

function openGo(): Port | undefined {
  if (!runs('go', ['version'])) return missing('Go port', 'golang-go');
  const binary = join(mkdtempSync(join(tmpdir(), 'ori-port-')), 'oriproof');
  execFileSync('go', ['build', '-o', binary, '.'], { cwd: GO, stdio: 'inherit' });
  return {
    name: 'Go port',
    conform: [binary, 'conform'],
    daemon: (internId, jwksUrl, ...roots) => [binary, internId, jwksUrl, '127.0.0.1:0', ...roots],
  };
}

/** A Python that has these modules. */
export function pythonWith(...modules: readonly string[]): string | undefined {
  const isThere = (python: string): boolean => !python.startsWith('/') || existsSync(python);
  return ['/usr/bin/python3', 'python3'].find(
    (python) => isThere(python) && runs(python, ['-c', `import ${modules.join(', ')}`]),
  );
}

function runs(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function missing(name: string, debianPackage: string): undefined {
  console.warn(`${name}: skipped, the Debian package ${debianPackage} is not installed`);
}
