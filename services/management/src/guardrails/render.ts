import type { BUILTIN_SLUGS, Guardrail } from './shape.ts';

type BuiltinSlug = (typeof BUILTIN_SLUGS)[number];

/** What a redaction puts in the place of what it found. */
const LABELS: Readonly<Record<BuiltinSlug, string>> = {
  'regex-prompt-injection': '[PROMPT_INJECTION]',
  email: '[EMAIL]',
  phone: '[PHONE]',
  ssn: '[SSN]',
  'credit-card': '[CREDIT_CARD]',
  'ip-address': '[IP_ADDRESS]',
  'person-name': '[PERSON_NAME]',
  address: '[ADDRESS]',
};

type StoredBuiltin = Omit<NonNullable<Guardrail['content_filter_builtins']>[number], 'label'>;

/** A guardrail as it is stored. */
export interface StoredGuardrail
  extends Omit<Guardrail, 'enforce_zdr' | 'content_filter_builtins' | 'created_at' | 'updated_at'> {
  readonly content_filter_builtins: readonly StoredBuiltin[] | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A guardrail as it is shown: the deprecated flag null beside those it stood for, each builtin filter labelled. */
export function renderGuardrail(guardrail: StoredGuardrail): Guardrail {
  const builtins = guardrail.content_filter_builtins;
  return {
    id: guardrail.id,
    name: guardrail.name,
    workspace_id: guardrail.workspace_id,
    description: guardrail.description,
    allowed_models: guardrail.allowed_models,
    allowed_providers: guardrail.allowed_providers,
    ignored_models: guardrail.ignored_models,
    ignored_providers: guardrail.ignored_providers,
    enforce_zdr: null,
    enforce_zdr_anthropic: guardrail.enforce_zdr_anthropic,
    enforce_zdr_google: guardrail.enforce_zdr_google,
    enforce_zdr_openai: guardrail.enforce_zdr_openai,
    enforce_zdr_other: guardrail.enforce_zdr_other,
    limit_usd: guardrail.limit_usd,
    reset_interval: guardrail.reset_interval,
    include_byok_in_budgets: guardrail.include_byok_in_budgets,
    content_filter_builtins: builtins?.map((entry) => ({ ...entry, label: LABELS[entry.slug] })) ?? null,
    content_filters: guardrail.content_filters,
    created_at: guardrail.created_at.toISOString(),
    updated_at: guardrail.updated_at.toISOString(),
  };
}
