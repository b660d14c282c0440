/**
 * Checks a log on a timer that does not keep the process alive, one check at a time.
 *
 * @param failed gets what a check throws
 */
export function startChecks(everyMs: number, once: () => Promise<void>, failed: (error: unknown) => void) {
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
  const timer = setInterval(() => void check(), everyMs);
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
