/**
 * Warns the operator in one line: a process warning of type `OriVerifierWarning`, or `console.warn` on runtimes without it.
 * `node --disable-warning=OriVerifierWarning` turns it off; `process.on('warning', …)` receives it.
 */
export function warn(code: string, message: string): void {
  if (typeof globalThis.process?.emitWarning === 'function') {
    globalThis.process.emitWarning(message, { type: 'OriVerifierWarning', code });
  } else {
    // biome-ignore lint/suspicious/noConsole: workerd has no process warnings, and a failure must not be silent.
    console.warn(`[${code}] OriVerifierWarning: ${message}`);
  }
}

const CAUSES_MAX = 3;
const MESSAGE_CHARACTERS_MAX = 500;

/** Its cause, the error of a handler, may quote the request, and is not for a warning. */
export class HandlerError extends Error {
  override readonly name = 'HandlerError';

  constructor(cause: unknown) {
    super('the handler threw', { cause });
  }
}

/** The message of an error and of its causes, as one line without control characters. */
export function messageOf(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at !== undefined && messages.length <= CAUSES_MAX; ) {
    messages.push(at instanceof Error ? at.message : 'not an Error');
    at = at instanceof Error && !(at instanceof HandlerError) ? at.cause : undefined;
  }
  return messages
    .join(': ')
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, MESSAGE_CHARACTERS_MAX);
}
