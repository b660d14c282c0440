import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRequest } from './read-request.ts';
import { BODY_SHA256, codeOf, contentOf, grantOf, ROUTE } from './stages.fixture.ts';

const grant = grantOf();
const read = (text: string) => readRequest(grant, contentOf(Buffer.from(text)));
const whole = { bodySha256: BODY_SHA256, route: ROUTE };

test('reads a request with and without a route', () => {
  expect(read(JSON.stringify(whole))).toMatchObject(whole);
  expect(read(`\n{"bodySha256" : "${BODY_SHA256}"}\t`)).toMatchObject({
    bodySha256: BODY_SHA256,
    route: undefined,
  });
});

test('reads a path full of JSON syntax characters', () => {
  const path = `/${'"\\:,{}[]\\"":'.repeat(20)}`;
  expect(read(JSON.stringify({ ...whole, route: { ...ROUTE, path } })).route?.path).toBe(path);
});

test('reads every path in the alphabet, however JSON escapes it', () => {
  const character = fc.constantFrom(
    ...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).filter((c) => !'#?'.includes(c)),
  );
  const spelled = fc.tuple(character, fc.boolean());
  fc.assert(
    fc.property(fc.array(spelled, { maxLength: 60 }), (characters) => {
      const path = `/${characters.map(([c]) => c).join('')}`;
      const json = characters
        .map(([c, escaped]) =>
          escaped ? `\\u00${c.charCodeAt(0).toString(16)}` : JSON.stringify(c).slice(1, -1),
        )
        .join('');
      const text = `{"route":{"path":"/${json}","method":"POST"},"bodySha256":"${BODY_SHA256}"}`;
      expect(read(text).route?.path).toBe(path);
    }),
  );
});

test('refuses a duplicate member, in any position and spelling', () => {
  const members = {
    top: [`"bodySha256":"${BODY_SHA256}"`, `"route":${JSON.stringify(ROUTE)}`],
    route: ['"method":"POST"', '"path":"/api/invoke"'],
  };
  const spellAnew = (member: string, at: number) =>
    member.replace(/^"(\w+)"/, (_, name: string) => {
      const index = at % name.length;
      return `"${name.slice(0, index)}\\u00${name.charCodeAt(index).toString(16)}${name.slice(index + 1)}"`;
    });
  fc.assert(
    fc.property(
      fc.constantFrom('top', 'route'),
      fc.nat(1),
      fc.nat(2),
      fc.nat(20),
      (place, which, position, at) => {
        const list = [...members[place]];
        const again = list[which] ?? '';
        list.splice(position, 0, at > 10 ? again : spellAnew(again, at));
        const text =
          place === 'top' ? `{${list.join()}}` : `{"bodySha256":"${BODY_SHA256}","route":{${list.join()}}}`;
        expect(() => JSON.parse(text)).not.toThrow();
        expect(codeOf(() => read(text))).toBe('invalid_body');
      },
    ),
  );
});

test('refuses everything else, always with a SigningError', () => {
  const json = fc.json({ maxDepth: 4 });
  fc.assert(
    fc.property(
      fc.oneof(
        json,
        // Not by fast-check's own unit, which lists every character.
        fc.array(fc.integer({ min: 0, max: 0x10_ffff })).map((points) => String.fromCodePoint(...points)),
        fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
      ),
      (text) => {
        expect(codeOf(() => read(text))).toBe('invalid_body');
      },
    ),
  );
});

test.each([
  ['a BOM', Buffer.from(`\ufeff${JSON.stringify(whole)}`)],
  ['a byte that is not UTF-8', Buffer.concat([Buffer.from('{"'), Buffer.of(0xc0, 0x80), Buffer.from('"')])],
  ['an overlong letter', Buffer.concat([Buffer.from(JSON.stringify(whole)), Buffer.of(0xc0, 0xa0)])],
  ['nothing', Buffer.alloc(0)],
  ['an own __proto__', Buffer.from(`{"__proto__":{"bodySha256":"${BODY_SHA256}"}}`)],
  ['a __proto__ beside', Buffer.from(`{"__proto__":{},"bodySha256":"${BODY_SHA256}"}`)],
])('refuses %s', (_, body) => {
  expect(codeOf(() => readRequest(grant, contentOf(body)))).toBe('invalid_body');
});

test('refuses a body with a byte that is not UTF-8, in any position', () => {
  const whole = Buffer.from(JSON.stringify({ bodySha256: BODY_SHA256, route: ROUTE }));
  for (let at = 0; at <= whole.length; at++) {
    const body = Buffer.concat([whole.subarray(0, at), Buffer.of(0xff), whole.subarray(at)]);
    expect(
      codeOf(() => readRequest(grant, contentOf(body))),
      `at ${at}`,
    ).toBe('invalid_body');
  }
});
