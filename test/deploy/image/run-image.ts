import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { findProgram } from '../../env/room.ts';
import type { Image } from './build-image.ts';

const CHROOT = findProgram('chroot', ['/usr/sbin', '/sbin']);

/** A program in an image, as a container would run it: its root, its user, its environment and no more. */
export interface Contained {
  readonly child: ChildProcess;
  /** Everything it wrote so far. */
  output(): string;
  readonly exited: Promise<number | null>;
}

/** Why nothing can be run in an image here, if so. */
export function whyNotContained(): string | undefined {
  return CHROOT && process.platform === 'linux' && process.getuid?.() === 0
    ? undefined
    : 'chroot needs Linux and root';
}

/** `chroot` stands in for the engine: no shell, no file of this machine, the numeric user of the image. */
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
