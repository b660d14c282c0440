import { bodyOf, bodyOfFile, bodyOfStream, type RequestBody } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import { requireBodySha256 } from '../core/proof-request.ts';
import type { Profile } from '../session/profile.ts';

/** The source of the request body; stdin by default. */
export interface BodyOptions {
  /** The body itself, or `@FILE` as in curl, but byte for byte; `@-` is stdin. */
  readonly data?: string;
  /** The body itself, even if it begins with `@`. */
  readonly dataRaw?: string;
  readonly file?: string;
}

/** The same, or the digest alone. */
export interface DigestOptions extends BodyOptions {
  readonly bodySha256?: string;
}

/**
 * The body that the options name, hashed. Without an option, stdin is read to its end if it is not a terminal, and must not
 * be empty. Throws CliError `body_missing`, `body_unreadable`, `interrupted`, and `usage` if more than one source is given.
 */
export async function takeBody(profile: Profile, options: BodyOptions): Promise<RequestBody> {
  const { data, dataRaw } = options;
  if ([data, dataRaw, options.file].filter((given) => given !== undefined).length > 1) {
    throw new CliError('usage', { detail: '--data, --data-raw and --file exclude each other.' });
  }
  const text = data?.startsWith('@') ? undefined : (data ?? dataRaw);
  if (text !== undefined) return bodyOf(Buffer.from(text, 'utf8'));
  const file = data?.slice(1) ?? options.file;
  if (file !== undefined && file !== '-') return bodyOfFile(file, profile.interrupted);
  if (file === undefined && profile.stdin.isTTY) throw new CliError('body_missing', {});
  const body = await bodyOfStream(profile.stdin, 'stdin', profile.interrupted);
  // Where stdin is not a terminal, such as in cron, an empty one was hardly meant.
  if (file === undefined && body.bytes === 0) throw new CliError('body_missing', {});
  return body;
}

/** The digest of the body that the options name. Throws as `takeBody` does. */
export async function takeDigest(profile: Profile, options: DigestOptions): Promise<string> {
  if (options.bodySha256 === undefined) {
    await using body = await takeBody(profile, options);
    return body.sha256;
  }
  if ([options.data, options.dataRaw, options.file].some((given) => given !== undefined)) {
    throw new CliError('usage', {
      detail: '--body-sha256 replaces the body, so it excludes --data and --file.',
    });
  }
  return requireBodySha256(options.bodySha256);
}
