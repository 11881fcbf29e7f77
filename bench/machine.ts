// The machine on which the figures were measured.

import { cpus, totalmem } from 'node:os';

export function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, ${memory} GiB, Node ${process.versions.node}`;
}
