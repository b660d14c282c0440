import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { findProgram } from '../../env/room.ts';
import type { Image } from './build-image.ts';

const CHROOT = findProgram('chroot', ['/usr/sbin', '/sbin']);

/** A program in an image, run as in a container: with only the image's root, user and environment. */
export interface Contained {
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  readonly exited: Promise<number | null>;
}

/** Why images cannot be built here, if so: programs and libraries come from this machine. */
export function whyNotBuilt(): string | undefined {
  const missing = ['ldd', 'prlimit', 'dpkg-query'].filter((name) => findProgram(name) === undefined);
  if (process.platform !== 'linux') return 'images are made of programs of Linux';
  return missing.length > 0 ? `there is no ${missing.join(' and no ')} here` : undefined;
}

/** Why images cannot be run here, if so. */
export function whyNotContained(): string | undefined {
  return whyNotBuilt() ?? (CHROOT && process.getuid?.() === 0 ? undefined : 'chroot needs root');
}

/** `chroot` replaces the engine: no shell, no files of this machine, the image's numeric user. */
export function runContained(image: Image, words: readonly string[], env: Record<string, string>): Contained {
  const child = spawn(CHROOT as string, [`--userspec=${image.user}`, image.root, ...words], {
    env: { ...image.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      written += chunk;
    });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { child, output: () => written, exited };
}
