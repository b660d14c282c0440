import type { KeyExpiry } from '@ori/store/signer';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { collectKeyExpiry } from './key-expiry-metrics.ts';

const T = 1_789_000_000_000;
const NEXT = 'signer_signing_key_next_expiry_timestamp_seconds';
const WITHOUT = 'signer_interns_without_signing_key';

function scraped(answer: () => Promise<KeyExpiry>) {
  const registry = new Registry();
  const asked: number[] = [];
  const clock = { now: T };
  const expiry = ({ at }: { at: number }) => {
    asked.push(at);
    return answer();
  };
  collectKeyExpiry(registry, { expiry, now: () => clock.now });
  return { asked, clock, scrape: () => registry.metrics() };
}

test('shows how many interns have no key, and when the next one has none', async () => {
  const { scrape, asked } = scraped(async () => ({ expired: 2, nextExpiry: 1_789_086_400 }));
  const text = await scrape();
  expect(text).toContain(`${NEXT} 1789086400`);
  expect(text).toContain(`${WITHOUT} 2`);
  expect(asked).toEqual([T / 1000]);
});

test('is +Inf if no key expires', async () => {
  const { scrape } = scraped(async () => ({ expired: 0, nextExpiry: undefined }));
  expect(await scrape()).toContain(`${NEXT} +Inf`);
});

test('queries the database once a minute, however often it is scraped', async () => {
  const { scrape, asked, clock } = scraped(async () => ({ expired: 0, nextExpiry: undefined }));
  await Promise.all([scrape(), scrape()]);
  clock.now += 59_999;
  await scrape();
  expect(asked).toHaveLength(1);
  clock.now += 1;
  await scrape();
  expect(asked).toHaveLength(2);
  // A clock that was ahead is set back.
  clock.now -= 3_600_000;
  await scrape();
  expect(asked).toHaveLength(3);
});

test('is NaN if the database does not answer, and queries it again at the next scrape', async () => {
  let down = false;
  const { scrape, asked, clock } = scraped(async () => {
    if (down) throw new Error('no answer');
    return { expired: 1, nextExpiry: undefined };
  });
  await scrape();
  down = true;
  clock.now += 60_000;
  const text = await scrape();
  expect(text).toContain(`${NEXT} Nan`);
  expect(text).toContain(`${WITHOUT} Nan`);
  down = false;
  expect(await scrape()).toContain(`${WITHOUT} 1`);
  expect(asked).toHaveLength(3);
});
