import { expect, test } from 'vitest';
import { Written } from './evidence.ts';
import { record } from './record.ts';
import { sign } from './sign.ts';
import { reservedOf } from './stages.fixture.ts';

test('signs the worked example of the proof format, byte for byte', () => {
  expect(sign(record(reservedOf(), 'line', new Written('line')))).toEqual({
    'x-ori-invoke-signature':
      'PrB6phrL9HxAHbXnGkePuzx0EeZwsIX6IfF1BesasFEm7W9JmHk/2aI0IFOkyHDIaCqMOjP34022pQkecmDrDA==',
    'x-ori-invoke-timestamp': '1789000000',
    'x-ori-invoke-user': 'user_2abc',
    'x-ori-invoke-signature-v2':
      'zMyIKlNJgAaBSg8nfMAE6m/6KpahQl/Vxr5un34nPzqZoo5O2fHUhGpO3tu+TVLk1hOThvkmbukkANvDcw8IBg==',
    'x-ori-invoke-nonce': 'AAECAwQFBgcICQoLDA0ODw',
  });
});
