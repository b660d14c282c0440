/** The system's code of an error, such as `ENOENT`: safe to show, unlike a message. */
export function systemErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
