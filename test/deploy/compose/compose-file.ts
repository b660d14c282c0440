import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ROOT } from '../root.ts';

export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target: string };
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly ulimits: { readonly core: number };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  /** Names, or addresses by name. */
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly healthcheck?: Readonly<Record<string, unknown>>;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export function networksOf({ networks }: Service): readonly string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}

/** `compose.yaml` as Compose reads it: anchors merged, `${NAME}` and `${NAME:?…}` filled in. @throws Error for one not set */
export function readCompose(env: Readonly<Record<string, string>>): ComposeFile {
  const text = readFileSync(`${ROOT}deploy/docker/compose.yaml`, 'utf8');
  const filled = text.replaceAll(/\$\{(\w+)(?::\?[^}]*)?\}/g, (_, name: string) => {
    const found = env[name];
    if (found === undefined) throw new Error(`compose.yaml: ${name} is not set`);
    return found;
  });
  return parse(filled, { merge: true });
}
