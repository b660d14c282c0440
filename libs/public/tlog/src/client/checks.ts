/** Checks of a log on a timer that does not keep the process alive, one at a time. */
export interface Checks {
  /** Checks now. Never rejects. */
  check(): Promise<void>;
  /** Stops the timer, and waits for the current check. */
  stop(): Promise<void>;
}

/** @param failed gets what a check throws */
export function startChecks(
  everyMs: number,
  once: () => Promise<void>,
  failed: (error: unknown) => void,
): Checks {
  let checking: Promise<void> | undefined;
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
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}
