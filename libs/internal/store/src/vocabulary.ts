/** The closed sets of column values. Without I/O, because shapes and commands import it. */

export const INTERN_STATUSES = [
  'awaiting_slack_install',
  'queued',
  'provisioning',
  'running',
  'failed',
  'stopped',
  'destroying',
  'destroy_failed',
] as const;
export type InternStatus = (typeof INTERN_STATUSES)[number];

/** The upstream providers for which an account can bring its own key, by slug. */
// biome-ignore format: a list of words, not one line each
export const PROVIDERS = [
  'ai21', 'aion-labs', 'akashml', 'alibaba', 'amazon-bedrock', 'amazon-bedrock/claude-on-aws',
  'amazon-nova', 'ambient', 'anthropic', 'anthropic/2', 'arcee-ai', 'assemblyai', 'atlas-cloud', 'avian',
  'azure', 'baidu', 'baseten', 'black-forest-labs', 'byteplus', 'cerebras', 'chutes', 'cirrascale',
  'clarifai', 'claude-on-aws', 'cloudflare', 'cohere', 'coreweave', 'cosine', 'crusoe', 'darkbloom',
  'databricks', 'decart', 'deepgram', 'deepinfra', 'deepseek', 'dekallm', 'digitalocean', 'elevenlabs',
  'featherless', 'fireworks', 'fish-audio', 'friendli', 'gmicloud', 'google-ai-studio', 'google-vertex',
  'groq', 'heygen', 'inception', 'inceptron', 'inferact-vllm', 'inference-net', 'infermatic', 'inflection',
  'io-net', 'ionstream', 'krea', 'liquid', 'makora', 'mancer', 'mara', 'meta', 'minimax', 'mistral',
  'modal', 'modelrun', 'modular', 'moonshotai', 'morph', 'near-ai', 'nebius', 'nex-agi', 'nextbit',
  'novita', 'nvidia', 'ollama', 'open-inference', 'openai', 'parasail', 'pareto-alpha', 'perceptron',
  'perplexity', 'phala', 'poolside', 'primeintellect', 'quiver', 'recraft', 'reka', 'relace', 'respan',
  'runway', 'sail-research', 'sakana', 'sakana-ai', 'sambanova', 'scaledown', 'seed', 'siliconflow',
  'sourceful', 'stepfun', 'streamlake', 'switchpoint', 'tencent', 'tenstorrent', 'thinkingmachines',
  'together', 'typesafe', 'unbiased', 'upstage', 'venice', 'voyageai', 'wafer', 'wandb', 'wandb-legacy',
  'xai', 'xiaomi', 'z-ai',
] as const;
export type Provider = (typeof PROVIDERS)[number];

export const DECLARED_REGIONS = ['global', 'europe', 'us'] as const;
export type DeclaredRegion = (typeof DECLARED_REGIONS)[number];

export const RESET_INTERVALS = ['daily', 'weekly', 'monthly'] as const;
export type ResetInterval = (typeof RESET_INTERVALS)[number];

/** What a built-in content filter detects. */
export const BUILTIN_SLUGS = [
  'regex-prompt-injection',
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'person-name',
  'address',
] as const;
export type BuiltinSlug = (typeof BUILTIN_SLUGS)[number];

export const BUILTIN_ACTIONS = ['block', 'redact', 'flag'] as const;
export const CUSTOM_ACTIONS = ['redact', 'block'] as const;
export const SCAN_SCOPES = ['user_only', 'all_messages'] as const;
