import { integer, list, secret, text } from '@ori/runtime/config';
import { expect, it } from 'vitest';
import { renderConfigTable } from './config-table.ts';

it('lists every variable with its default, unit and meaning', () => {
  const spec = {
    turnsPerUser: integer({
      min: 1,
      max: 1000,
      default: 60,
      doc: 'Turns of one user in a window',
      unit: 'turns',
    }),
    regionalHosts: list({ default: [], doc: 'Hosts that are refused', item: 'host | name' }),
    issuer: text({ doc: 'The issuer' }),
    redisUrl: secret({ doc: 'The Redis', expected: 'a Redis URL' }),
  };
  expect(renderConfigTable('SIGNER', spec)).toBe(
    [
      '| Name | Default | Unit | Meaning |',
      '|---|---|---|---|',
      '| `SIGNER_TURNS_PER_USER` | `60` | turns | Turns of one user in a window (an integer from 1 to 1000) |',
      '| `SIGNER_REGIONAL_HOSTS` | — | — | Hosts that are refused (a comma-separated list, each a host \\| name) |',
      '| `SIGNER_ISSUER` | required | — | The issuer (a text) |',
      '| `SIGNER_REDIS_URL` or `SIGNER_REDIS_URL_FILE` | required | — | The Redis (a Redis URL) |',
      '',
    ].join('\n'),
  );
});
