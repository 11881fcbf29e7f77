// CPU time in milliseconds of a machine of known speed: the limits of tests hold on slow and busy machines too.

/** What the reference work takes on the machine that limits are given for. */
const REFERENCE = 7;
/** The clock of CPU times has a resolution of milliseconds. */
const TIMES = 20;

/** The CPU time of the main thread in milliseconds. Other processes do not count. */
export function millisOf(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const spent = process.threadCpuUsage(start);
  return (spent.user + spent.system) / 1000;
}

/** How many times slower this machine is at the moment, by the time to parse 1 MB of JSON. Never below 1. */
export function slowness(): number {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, i) => ({ name: `object-${i}`, labels: { i } })),
  );
  const all = millisOf(() => {
    for (let i = 0; i < TIMES; i++) JSON.parse(text);
  });
  return Math.max(1, all / TIMES / REFERENCE);
}
