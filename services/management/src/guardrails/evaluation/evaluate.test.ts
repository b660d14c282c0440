import { afterAll, expect, it } from 'vitest';
import { createPatternCompiler } from '../pattern-compiler.ts';
import type { Guardrail } from '../shape.ts';
import { evaluate } from './evaluate.ts';

const patterns = createPatternCompiler();
afterAll(() => patterns.close());

const NOTHING = {
  allowed_models: null,
  ignored_models: null,
  allowed_providers: null,
  ignored_providers: null,
  content_filter_builtins: null,
  content_filters: null,
};
const evaluated = (lists: Partial<Guardrail>, request: object) =>
  evaluate({ ...NOTHING, ...lists } as Guardrail, request, patterns, 'org', new AbortController().signal);

it('lets everything pass without lists and filters', async () => {
  const allowed = { verdict: 'allowed', list: null, entry: null };
  expect(await evaluated({}, { model: 'a/b', provider: 'c', text: 'hello' })).toEqual({
    model: allowed,
    provider: allowed,
    text: { verdict: 'allowed', result: 'hello', matches: [], not_evaluated: [] },
  });
});

it('calls what it redacts by its label, if it has one', async () => {
  const content_filters = ['a', 'b'].map((pattern) => ({
    pattern,
    action: 'redact' as const,
    label: pattern === 'a' ? 'A' : null,
  }));
  const { text } = await evaluated({ content_filters }, { text: 'ab' });
  expect(text.result).toBe('[A][REDACTED]');
});
