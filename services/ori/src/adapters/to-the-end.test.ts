import { expect, it, vi } from 'vitest';
import { exitAtTheEnd, toTheEnd } from './to-the-end.ts';

it('exits when the last of what must not be broken off has ended', async () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const works = [toTheEnd(() => first.promise), toTheEnd(() => second.promise)];
  exitAtTheEnd(130);
  first.resolve();
  await works[0];
  expect(exit).not.toHaveBeenCalled();
  second.reject(new Error('no answer'));
  await expect(works[1]).rejects.toThrow('no answer');
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
  exitAtTheEnd(143);
  expect(exit).toHaveBeenLastCalledWith(143);
  exit.mockRestore();
});
