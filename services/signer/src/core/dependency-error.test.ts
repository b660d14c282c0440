import { expect, test } from 'vitest';
import { DependencyError } from './dependency-error.ts';

test('explains itself, unless a cause does', () => {
  expect(new DependencyError('clock', 'two minutes ahead').explanation).toBe('two minutes ahead');
  const failed = new DependencyError('redis', 'no answer', { cause: new Error('refused') });
  expect(failed.explanation).toBeUndefined();
});
