import type { GuardrailRow } from './queries.ts';
import { type Guardrail, LABELS } from './shape.ts';

/** The columns that are not shown. A column that is neither here nor in the shape is a compile error. */
const HIDDEN = { organization_id: undefined } satisfies Record<
  Exclude<keyof GuardrailRow, keyof Guardrail>,
  undefined
>;

/**
 * A guardrail as in the API: the deprecated flag is null next to those that replace it, and each builtin filter has its
 * label.
 */
export function renderGuardrail(row: GuardrailRow): Guardrail {
  const builtins = row.content_filter_builtins;
  return {
    ...row,
    ...HIDDEN,
    enforce_zdr: null,
    content_filter_builtins: builtins?.map((entry) => ({ ...entry, label: LABELS[entry.slug] })) ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
