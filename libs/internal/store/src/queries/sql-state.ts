/** The error codes that queries expect and handle (PostgreSQL, appendix A). */
const SQLSTATES = { lock_not_available: '55P03', foreign_key_violation: '23503' } as const;

export function failedWith(error: unknown, condition: keyof typeof SQLSTATES): boolean {
  return error instanceof Error && 'code' in error && error.code === SQLSTATES[condition];
}
