import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** Whether this process is root on Debian or a descendant. */
export function mayInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version');
}

/** Installs Debian packages without starting their services. False: apt-get failed and printed why. */
export function installPackages(names: readonly string[]): boolean {
  const words = ['install', '-y', '-qq', '--no-install-recommends', ...names];
  return withoutStarting(() => apt(['update', '-qq']) && apt(words));
}

/** A package's scripts call /usr/sbin/policy-rc.d before they start a service; 101 forbids it. */
function withoutStarting(act: () => boolean): boolean {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return act();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return act();
  } finally {
    rmSync(policy);
  }
}

/** Options of apt-get: wait for the lock, and retry a mirror that does not answer. */
export const APT_PATIENCE = ['-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=120'];

function apt(words: readonly string[]): boolean {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { status } = spawnSync('apt-get', [...APT_PATIENCE, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environment,
    timeout: 300_000,
  });
  return status === 0;
}

export function say(sentence: string): true {
  console.log(sentence);
  return true;
}

export function complain(sentence: string): false {
  console.error(sentence);
  return false;
}
