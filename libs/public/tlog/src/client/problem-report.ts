/** Reports a problem when it begins, again each `limitSeconds` while it lasts, and `recovered` once when it is over. */
export function createProblemReport<Problem extends { readonly kind: string }>(parts: {
  readonly onProblem: (problem: Problem | { readonly kind: 'recovered' }) => void;
  readonly limitSeconds: number;
  /** Unix seconds. */
  readonly seconds: () => number;
}): { report(problem: Problem): void; recover(): void } {
  const { onProblem, limitSeconds, seconds } = parts;
  let current: { readonly kind: string; readonly reportedAt: number } | undefined;
  return {
    report(found) {
      const lasts = current?.kind === found.kind && seconds() - current.reportedAt < limitSeconds;
      if (lasts) return;
      current = { kind: found.kind, reportedAt: seconds() };
      quietly(() => onProblem(found));
    },
    recover() {
      if (current === undefined) return;
      current = undefined;
      quietly(() => onProblem({ kind: 'recovered' }));
    },
  };
}

/** Calls a listener and ignores what it throws. */
export function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // There is nobody else to report it to.
  }
}
