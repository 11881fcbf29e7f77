// Parses the annotation that says when and how an object finishes: `simulation.lapse.dev/finish: "succeeded after 5s"`.

import { readGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { ObjectMeta } from '@lapse/kube/api/object';

export const FINISH = 'simulation.lapse.dev/finish';

export interface Finish {
  readonly result: 'succeeded' | 'failed';
  /** Counted from the start of the object. */
  readonly after: Millis;
}

/** The requested finish; `none` without an annotation; a problem if the annotation is invalid. */
export type RequestedFinish = Finish | 'none' | { readonly problem: string };

const FORM = /^(succeeded|failed) after (\S+)$/;

export function parseFinish({ annotations }: ObjectMeta): RequestedFinish {
  const text = annotations?.[FINISH];
  if (text === undefined) return 'none';
  const [, result, length] = FORM.exec(text.trim()) ?? [];
  const nanos = length === undefined ? undefined : readGoDuration(length);
  if (result === undefined || nanos === undefined || nanos < 0n)
    return {
      problem: `${FINISH}: ${JSON.stringify(text.slice(0, 100))} is not "succeeded after 5s" or "failed after 1m"`,
    };
  return { result: result as Finish['result'], after: millis(Number(nanos / 1_000_000n)) };
}
