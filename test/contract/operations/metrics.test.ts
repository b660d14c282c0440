import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { inLanes } from '../../env/in-lanes.ts';
import { useSignerWorld, V1_BODY } from '../signer-world.ts';

const world = await useSignerWorld({ environment: { TURNS_PER_USER: '3' } });

async function samples(): Promise<Map<string, number>> {
  const { text } = await world.page('/metrics');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

const seriesAtStart = [...(await samples()).keys()].filter((name) => name.startsWith('signer_'));

test('counts proofs by version and refusals by reason', async () => {
  await world.sign();
  await world.sign({ body: V1_BODY });
  await world.sign({ bearer: null });
  await world.sign({ bearer: world.tenants.apiKey });
  await world.sign({ body: '{}' });
  await world.sign({ internId: 'nobody' });
  await world.sign();
  await world.sign();
  const counted = await samples();
  expect(counted.get('signer_proofs_issued_total{version="v2",bound="false"}')).toBe(2);
  expect(counted.get('signer_proofs_issued_total{version="v1",bound="false"}')).toBe(1);
  for (const reason of [
    'bearer_refused',
    'personal_identity_required',
    'invalid_body',
    'not_found',
    'rate_limited',
  ]) {
    expect(counted.get(`signer_refusals_total{reason="${reason}"}`), reason).toBe(1);
  }
});

test('no request adds a series', async () => {
  await inLanes(500, 16, async () => {
    const random = randomBytes(6).toString('hex');
    await world.http.ask({ method: 'GET', path: `/${random}` });
    // Most of these are not HTTP methods.
    await world.http.ask({ method: `X${random}`.toUpperCase(), path: '/' }).catch(() => undefined);
    await world.http.ask({
      method: 'POST',
      path: `/v1/interns/${random}/daemon/sign`,
      headers: ['Authorization', `Bearer ${random}`],
    });
  });
  const after = await samples();
  expect([...after.keys()].filter((name) => name.startsWith('signer_'))).toEqual(seriesAtStart);
  const routes = new Set([...after.keys()].flatMap((name) => /route="([^"]*)"/.exec(name)?.[1] ?? []));
  expect([...routes].sort()).toEqual(['/v1/interns/{internId}/daemon/sign', 'other']);
});
