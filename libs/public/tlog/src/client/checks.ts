/** What checks a log. */
interface Check {
  once(): Promise<void>;
  /** Gets what a check throws. */
  failed(error: unknown): void;
  /** Called in place of a check while the one before lasts, which anyone who delays the log's answers can draw out. */
  lasts(): void;
}

/** Checks a log on a timer that does not keep the process alive, one check at a time. */
export function startChecks(everyMs: number, { once, failed, lasts }: Check) {
  let checking: Promise<void> | undefined;
  /** Checks now. Never rejects. */
  function check(): Promise<void> {
    checking ??= once()
      .catch(failed)
      .finally(() => {
        checking = undefined;
      });
    return checking;
  }
  const timer = setInterval(() => (checking === undefined ? void check() : lasts()), everyMs);
  timer.unref();
  return {
    check,
    /** Stops the timer, and waits for the current check. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await checking;
    },
  };
}

export type Checks = ReturnType<typeof startChecks>;
