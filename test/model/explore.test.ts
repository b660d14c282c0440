import { expect, test } from 'vitest';
import { explore, type Model } from './explore.ts';

/** Counts up by one or two, to eight at most. */
function counter(
  invariants: Model<number, string, number>['invariants'] = {},
): Model<number, string, number> {
  return {
    initial: 0,
    actions: (state) => (state < 7 ? ['one', 'two'] : state < 8 ? ['one'] : []),
    apply: (state, action) => ({ state: state + (action === 'one' ? 1 : 2), event: state }),
    encode: String,
    invariants,
    always: {},
  };
}

test('reaches every state once', () => {
  expect(explore(counter())).toEqual({ states: 9, transitions: 15, depth: 4 });
});

test('finds a shortest path to a violation', () => {
  const below = { 'below six': ({ state }: { state: number }) => (state < 6 ? undefined : `${state}`) };
  const { violation } = explore(counter(below));
  expect(violation).toEqual({ invariant: 'below six', why: '6', trace: ['two', 'two', 'two'] });
});

test('checks every state', () => {
  const model = {
    ...counter(),
    always: { 'never three': (state: number) => (state === 3 ? 'three' : undefined) },
  };
  expect(explore(model).violation?.trace).toEqual(['one', 'two']);
});

test('fails if it exceeds its bound', () => {
  expect(() => explore(counter(), { statesMax: 5 })).toThrow(RangeError);
});
