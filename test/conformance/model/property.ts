// The property itself, for any target: random histories agree with the model.

import fc from 'fast-check';
import type { Target } from '../replay/types.ts';
import { asker } from './ask.ts';
import { drive } from './drive.ts';
import type { Kind } from './kinds.ts';
import { histories } from './operations.ts';

export interface Effort {
  readonly runs: number;
  readonly maxLength: number;
  readonly seed?: number;
  /** Search for the smallest failing history (default), or stop at the first. */
  readonly shrink?: boolean;
  /** How long a watcher waits for an expected event. */
  readonly patienceMs?: number;
}

let serial = 0;

/** Each run has its own namespace (and another one beside it). */
export async function agreesWithModel(target: Target, kind: Kind, effort: Effort): Promise<void> {
  const ask = asker(target);
  const property = fc.asyncProperty(histories(effort.maxLength), async (history) => {
    const ns = `model-${kind.plural}-${(++serial).toString(36)}`;
    for (const name of [ns, `${ns}-b`]) {
      const { status } = await ask('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
      if (status !== 201) throw new Error(`namespace ${name}: ${status}`);
    }
    await drive({ target, kind, ns, patienceMs: effort.patienceMs ?? 10_000 }, history);
  });
  await fc.assert(property, {
    numRuns: effort.runs,
    endOnFailure: effort.shrink === false,
    ...(effort.seed === undefined ? {} : { seed: effort.seed }),
  });
}
