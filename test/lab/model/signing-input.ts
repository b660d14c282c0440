import type { Configuration } from './configuration.ts';

/** The fields that every signature covers. */
export interface Named {
  readonly intern: number;
  readonly at: number;
  readonly user: number;
  readonly body: number;
}

/** The fields that both versions sign; a mutant may leave one out. Text with separators, as injective as netstrings. */
function common({ broken }: Configuration, { intern, at, user, body }: Named): string {
  const named = [
    broken.has('intern-not-signed') ? '' : intern,
    at,
    broken.has('user-not-signed') ? '' : user,
    broken.has('body-not-signed') ? '' : body,
  ];
  return named.join('/');
}

export function inputV1(configuration: Configuration, named: Named): string {
  return `v1/${common(configuration, named)}`;
}

export function inputV2(
  configuration: Configuration,
  named: Named & { readonly nonce: number; readonly path: number },
): string {
  const { broken } = configuration;
  const nonce = broken.has('nonce-not-signed') ? '' : named.nonce;
  const path = broken.has('path-not-signed') ? '' : named.path;
  return `v2/${common(configuration, named)}/${nonce}/${path}`;
}

/** The replay id of version 1. */
export function v1IdOf({ intern, at, user, body }: Named): string {
  return `${intern}.${at}.${user}.${body}`;
}

/** A signature, which requires the key. */
export function signed(key: number, input: string): string {
  return `${key}:${input}`;
}
