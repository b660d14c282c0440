import { expect, it } from 'vitest';
import { createMemoryAdapterFactory } from './memory-adapter.ts';

it('finds an entry by its id, uid and user code until it expires', async () => {
  let nowMs = 0;
  const adapter = createMemoryAdapterFactory(() => nowMs)('DeviceCode');
  const payload = { uid: 'u', userCode: 'c' };
  await adapter.upsert('id', payload, 10);
  nowMs = 9_999;
  for (const found of [adapter.find('id'), adapter.findByUid('u'), adapter.findByUserCode('c')]) {
    expect(await found).toBe(payload);
  }
  nowMs = 10_000;
  for (const found of [adapter.find('id'), adapter.findByUid('u'), adapter.findByUserCode('c')]) {
    expect(await found).toBeUndefined();
  }
});

it('removes everything of a revoked grant, and nothing else', async () => {
  const adapter = createMemoryAdapterFactory()('AccessToken');
  await adapter.upsert('a', { grantId: 'g' }, 60);
  await adapter.upsert('b', { grantId: 'g' }, 60);
  await adapter.upsert('c', { grantId: 'other' }, 60);
  await adapter.revokeByGrantId('g');
  expect(await adapter.find('a')).toBeUndefined();
  expect(await adapter.find('b')).toBeUndefined();
  expect(await adapter.find('c')).toBeDefined();
});

it('keeps a later session reachable when an earlier one of the same uid is destroyed', async () => {
  const adapter = createMemoryAdapterFactory()('Session');
  await adapter.upsert('old', { uid: 'u' }, 60);
  await adapter.upsert('new', { uid: 'u' }, 60);
  await adapter.destroy('old');
  expect(await adapter.findByUid('u')).toEqual({ uid: 'u' });
});

it('keeps kinds apart', async () => {
  const factory = createMemoryAdapterFactory();
  await factory('Session').upsert('id', {}, 60);
  expect(await factory('Grant').find('id')).toBeUndefined();
});
