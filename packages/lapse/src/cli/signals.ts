// Termination: the first signal stops the process gracefully, the second at once.

/** Resolves on SIGTERM or SIGINT. A second signal ends the process at once. */
export function untilAskedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** Exits after a graceful stop, even if code of modules still has pending work. */
export function leave(): never {
  process.exit(process.exitCode ?? 0);
}
