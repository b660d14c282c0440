import type { BuiltinSlug } from '@ori/store/vocabulary';
import type { PatternCompiler } from '../pattern-compiler.ts';
import { type Guardrail, LABELS } from '../shape.ts';
import type { Evaluation, EvaluationRequest } from './shape.ts';

/**
 * The patterns of the built-in filters, RE2. Names and postal addresses have no pattern: they take a model, and are
 * reported as not evaluated.
 */
const PATTERNS: Readonly<Partial<Record<BuiltinSlug, string>>> = {
  email: '[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,24}',
  phone: '(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{2,4}\\)|\\b\\d{2,4})[ .-]\\d{3,4}[ .-]?\\d{3,4}\\b',
  ssn: '\\b\\d{3}-\\d{2}-\\d{4}\\b',
  'credit-card': '\\b\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{1,7}\\b',
  'ip-address': '\\b(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\b',
  'regex-prompt-injection':
    '(?i)\\b(?:ignore|disregard|forget)\\b[^.\\n]{0,40}\\b(?:previous|prior|above|earlier)\\b[^.\\n]{0,40}\\b(?:instructions?|prompts?|rules?)\\b',
};

type Entry = Evaluation['text']['matches'][number]['entry'];

const redactedBy = (label: string | null) => `[${label ?? 'REDACTED'}]`;

/** What the guardrail says about a request. Entries are applied in the order of the guardrail. */
export async function evaluate(
  guardrail: Guardrail,
  { model, provider, text }: EvaluationRequest,
  patterns: PatternCompiler,
  account: string,
  signal: AbortSignal,
): Promise<Evaluation> {
  const filters = [
    ...(guardrail.content_filter_builtins ?? []).map(({ slug, action }, index) => ({
      entry: { list: 'content_filter_builtins', index, slug } as Entry,
      pattern: PATTERNS[slug],
      action,
      replacement: LABELS[slug],
    })),
    ...(guardrail.content_filters ?? []).map(({ pattern, action, label }, index) => ({
      entry: { list: 'content_filters', index, pattern } as Entry,
      pattern,
      action,
      replacement: redactedBy(label),
    })),
  ];
  const evaluated = filters.flatMap((filter) =>
    filter.pattern === undefined ? [] : [{ ...filter, pattern: filter.pattern }],
  );
  const applied =
    text === undefined || evaluated.length === 0
      ? { counts: [], text: text ?? null }
      : await patterns.apply(evaluated, text, account, signal);
  const matches = evaluated.flatMap(({ entry, action }, index) => {
    const count = applied.counts[index] ?? 0;
    return count === 0 ? [] : [{ entry, action, count }];
  });
  const blocked = matches.some(({ action }) => action === 'block');
  const redacted = matches.some(({ action }) => action === 'redact');
  return {
    model: judged(model, guardrail.allowed_models, guardrail.ignored_models),
    provider: judged(provider, guardrail.allowed_providers, guardrail.ignored_providers),
    text: {
      verdict: blocked ? 'blocked' : redacted ? 'redacted' : matches.length > 0 ? 'flagged' : 'allowed',
      result: blocked || text === undefined ? null : applied.text,
      matches,
      not_evaluated: filters.flatMap(({ entry, pattern }) =>
        pattern === undefined && entry.slug !== undefined ? [entry.slug] : [],
      ),
    },
  };
}

/** An ignored name is skipped even if it is allowed too. */
function judged(
  name: string | undefined,
  allowed: readonly string[] | null,
  ignored: readonly string[] | null,
): Evaluation['model'] {
  if (name === undefined) return null;
  if (ignored?.includes(name)) return { verdict: 'ignored', list: 'ignored', entry: name };
  if (allowed === null) return { verdict: 'allowed', list: null, entry: null };
  if (allowed.includes(name)) return { verdict: 'allowed', list: 'allowed', entry: name };
  return { verdict: 'blocked', list: 'allowed', entry: null };
}
