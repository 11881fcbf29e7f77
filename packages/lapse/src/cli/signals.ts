// Waiting for the end: the first signal asks, the second insists.

/** Resolves on SIGTERM or SIGINT; a second signal ends the process at once. */
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

/** After everything was stopped in order: whatever somebody else's code still waits for does not keep the process. */
export function leave(): never {
  process.exit(process.exitCode ?? 0);
}
