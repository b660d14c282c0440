import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

const patient = new AbortController().signal;

/** Calls that end when told to. */
function calls() {
  const under: PromiseWithResolvers<string>[] = [];
  const call = () => {
    const one = Promise.withResolvers<string>();
    under.push(one);
    return one.promise;
  };
  return { call, under };
}

test('no more calls are under way than there are places, and the line is served in its order', async () => {
  const inPlace = createPlaces(2);
  const { call, under } = calls();
  const all = [0, 1, 2, 3].map(() => inPlace(patient, call));
  expect(under).toHaveLength(2);
  under[0]?.resolve('first');
  expect(await all[0]).toBe('first');
  expect(under).toHaveLength(3);
  under[1]?.reject(new Error('failed'));
  await expect(all[1]).rejects.toThrow('failed');
  expect(under).toHaveLength(4);
  under[2]?.resolve('third');
  under[3]?.resolve('fourth');
  expect(await Promise.all([all[2], all[3]])).toEqual(['third', 'fourth']);
  await inPlace(patient, async () => 'free again');
});

test('who waits too long leaves the line without having called', async () => {
  const inPlace = createPlaces(1);
  const { call, under } = calls();
  const first = inPlace(patient, call);
  const waiting = new AbortController();
  const second = inPlace(waiting.signal, call);
  const third = inPlace(patient, call);
  waiting.abort(new Error('too long'));
  await expect(second).rejects.toThrow('too long');
  under[0]?.resolve('first');
  await first;
  expect(under).toHaveLength(2);
  under[1]?.resolve('third');
  expect(await third).toBe('third');
});

test('who comes too late does not call', async () => {
  const { call, under } = calls();
  await expect(createPlaces(1)(AbortSignal.abort(new Error('late')), call)).rejects.toThrow('late');
  expect(under).toHaveLength(0);
});
