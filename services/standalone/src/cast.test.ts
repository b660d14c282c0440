import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inventCast, keptCast } from './cast.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ori-cast-'));
});
afterEach(() => rmSync(home, { recursive: true }));

it('is the same at each start on a port, different on another port, and readable only by its owner', () => {
  const cast = keptCast(home, 8080);
  expect(keptCast(home, 8080)).toEqual(cast);
  expect(keptCast(home, 9090).internId).not.toBe(cast.internId);
  expect(statSync(join(home, '.ori/demo-8080.json')).mode & 0o777).toBe(0o600);
});

it.each(['', '{', '{}', 'null', '{"internId":"int_x","users":[]}', '{"internId":7,"users":[null]}'])(
  'is generated again if the file contains %j',
  (text) => {
    keptCast(home, 8080);
    writeFileSync(join(home, '.ori/demo-8080.json'), text);
    expect(keptCast(home, 8080)).toEqual(keptCast(home, 8080));
  },
);

it('has the same members each time, with other subjects', () => {
  const [one, other] = [inventCast(), inventCast()];
  expect(one.users.map(({ name }) => name)).toEqual(['ada', 'grace', 'alan', 'mary']);
  expect(one.users[0]?.subject).not.toBe(other.users[0]?.subject);
});
