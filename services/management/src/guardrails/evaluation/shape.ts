import { BUILTIN_ACTIONS, BUILTIN_SLUGS } from '@ori/store/vocabulary';
import { z } from 'zod';

export const EvaluationRequest = z
  .strictObject({
    model: z.string().min(1).max(255).optional().meta({ description: 'A model slug.' }),
    provider: z.string().min(1).max(255).optional().meta({ description: 'A provider slug.' }),
    text: z.string().max(20_000).optional().meta({ description: 'A sample of a message.' }),
  })
  .meta({
    id: 'EvaluationRequest',
    example: {
      model: 'anthropic/claude-sonnet-4.5',
      provider: 'deepseek',
      text: 'Write to ada@example.com about PRJ-0042.',
    },
  });
export type EvaluationRequest = z.infer<typeof EvaluationRequest>;

const listed = z
  .strictObject({
    verdict: z.enum(['allowed', 'ignored', 'blocked']),
    list: z
      .enum(['allowed', 'ignored'])
      .nullable()
      .meta({ description: 'The list that decided; null: there is none.' }),
    entry: z.string().nullable().meta({ description: 'The entry of the list; null: no entry fits.' }),
  })
  .nullable()
  .meta({ description: 'null: not asked.' });

const filterEntry = z.strictObject({
  list: z.enum(['content_filter_builtins', 'content_filters']),
  index: z.int().min(0),
  slug: z.enum(BUILTIN_SLUGS).optional(),
  pattern: z.string().optional(),
});

export const Evaluation = z
  .strictObject({
    model: listed,
    provider: listed,
    text: z.strictObject({
      verdict: z.enum(['allowed', 'flagged', 'redacted', 'blocked']),
      result: z
        .string()
        .nullable()
        .meta({ description: 'The text as it would be passed on; null: it would not, or none was given.' }),
      matches: z.array(
        z.strictObject({
          entry: filterEntry,
          action: z.enum(BUILTIN_ACTIONS),
          count: z.int().min(1).meta({ description: 'How many matches there are.' }),
        }),
      ),
      not_evaluated: z
        .array(z.enum(BUILTIN_SLUGS))
        .meta({ description: 'The built-in filters that have no pattern.' }),
    }),
  })
  .meta({
    id: 'Evaluation',
    example: {
      model: { verdict: 'allowed', list: 'allowed', entry: 'anthropic/claude-sonnet-4.5' },
      provider: { verdict: 'ignored', list: 'ignored', entry: 'deepseek' },
      text: {
        verdict: 'blocked',
        result: null,
        matches: [
          { entry: { list: 'content_filter_builtins', index: 0, slug: 'email' }, action: 'redact', count: 1 },
          {
            entry: { list: 'content_filters', index: 0, pattern: 'PRJ-[0-9]{4}' },
            action: 'block',
            count: 1,
          },
        ],
        not_evaluated: [],
      },
    },
  });
export type Evaluation = z.infer<typeof Evaluation>;
