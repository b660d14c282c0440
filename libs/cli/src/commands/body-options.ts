import { bodyOf, bodyOfFile, bodyOfStream, type RequestBody } from '../adapters/request-body.ts';
import { CliError } from '../core/errors.ts';
import type { Context } from './context.ts';

/** Where the request body comes from; without either, from stdin. */
export interface BodyOptions {
  readonly data?: string;
  readonly file?: string;
}

/**
 * The body that the options name, hashed. stdin is read when it is not a terminal, to its end. Throws
 * CliError `body_missing`, `body_unreadable`, `interrupted`, and `usage` when two are named.
 */
export async function takeBody(context: Context, { data, file }: BodyOptions): Promise<RequestBody> {
  if (data !== undefined && file !== undefined) {
    throw new CliError('usage', { detail: '--data and --file exclude each other.' });
  }
  if (data !== undefined) return bodyOf(Buffer.from(data, 'utf8'));
  if (file !== undefined && file !== '-') return bodyOfFile(file, context.interrupted);
  if (file === undefined && context.stdin.isTTY) throw new CliError('body_missing', {});
  return bodyOfStream(context.stdin, 'stdin', context.interrupted);
}
