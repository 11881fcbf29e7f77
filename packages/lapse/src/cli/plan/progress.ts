// A progress line on standard error while objects are read.

import type { Kind } from '@lapse/kube/api/kind';

export interface Progress {
  readonly read: (kind: Kind, count: number) => void;
  /** Removes the line. */
  done(): void;
}

/** Lines are rewritten on a terminal. Otherwise a line is printed for every ten thousand objects. */
const STEP = 10_000;

/** The used part of process.stderr. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export function openProgress(wanted: boolean, output: Output = process.stderr): Progress {
  const live = output.isTTY === true;
  let total = 0;
  let reported = 0;
  return {
    read(kind, count) {
      total += count;
      if (!wanted || count === 0) return;
      const line = `read ${total} objects, now ${kind.resource}`;
      if (live) output.write(`\r\u001b[2K${line}`);
      else if (total - reported >= STEP) {
        reported = total;
        output.write(`${line}\n`);
      }
    },
    done() {
      if (wanted && live) output.write('\r\u001b[2K');
    },
  };
}
