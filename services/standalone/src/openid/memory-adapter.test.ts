import { expect, it, vi } from 'vitest';
import { createMemoryAdapterFactory } from './memory-adapter.ts';

it('finds an entry by its id, uid and user code until it expires', async () => {
  vi.useFakeTimers();
  try {
    const adapter = createMemoryAdapterFactory()('DeviceCode');
    const payload = { uid: 'u', userCode: 'c' };
    await adapter.upsert('id', payload, 10);
    const find = () => Promise.all([adapter.find('id'), adapter.findByUid('u'), adapter.findByUserCode('c')]);
    vi.advanceTimersByTime(9_999);
    expect(await find()).toEqual([payload, payload, payload]);
    vi.advanceTimersByTime(1);
    expect(await find()).toEqual([undefined, undefined, undefined]);
  } finally {
    vi.useRealTimers();
  }
});
