import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** What Express loads for methods that no handler of ours calls: bodies, files, cookies, negotiation, queries. */
const UNUSED_BY_EXPRESS = new Set([
  'accepts',
  'body-parser',
  'content-disposition',
  'cookie',
  'cookie-signature',
  'etag',
  'fresh',
  'mime-types',
  'qs',
  'range-parser',
  'send',
  'serve-static',
  'type-is',
  'vary',
]);

/** The limiters that are used. Its main file loads one for each of fifteen databases. */
const LIMITERS = ['RateLimiterMemory', 'RateLimiterRedis', 'RateLimiterRes'];
const LIMITER_PACKAGE = 'rate-limiter-flexible';

const PREFIX = '\0left-out:';
const require = createRequire(import.meta.url);

/**
 * Leaves out of a bundle what no handler calls. A member of a package that was left out throws Error `not bundled:
 * NAME` when it is called.
 */
export const leaveOut: Plugin = {
  name: 'leave-out',
  resolveId(id, importer) {
    const isUnused = UNUSED_BY_EXPRESS.has(id) && importer?.includes('/node_modules/express/');
    return isUnused || id === LIMITER_PACKAGE ? PREFIX + id : undefined;
  },
  load(id) {
    if (!id.startsWith(PREFIX)) return undefined;
    const name = id.slice(PREFIX.length);
    return name === LIMITER_PACKAGE ? limiters() : absent(name);
  },
};

function limiters(): string {
  const folder = join(require.resolve(LIMITER_PACKAGE), '../lib');
  const members = LIMITERS.map((name) => `${name}: require(${JSON.stringify(join(folder, `${name}.js`))})`);
  return `module.exports = { ${members.join(', ')} };`;
}

function absent(name: string): string {
  return `const fail = () => { throw new Error('not bundled: ${name}'); };
module.exports = new Proxy(fail, { get: () => fail });`;
}
