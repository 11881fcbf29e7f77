// What the steps of one pass are handed, and the few ways in which they wait.

import type { ObjectKey } from '#api/kind';
import type { VolumeCaptureRequest } from '#api/kinds/volumeCaptureRequest';
import { PersistentVolume } from '#api/kinds/volumes';
import { checkPathSegment } from '#api/names';
import { minutes, plus, seconds } from '#base/instant';
import type { Read } from '#lifecycle/requests/direct';
import { type Outcome, settled, waitUntil } from '#runtime/outcome';
import type { Pass } from '#runtime/pass';
import type { CaptureOptions } from './policy.ts';

export interface Work {
  readonly pass: Pass;
  readonly request: VolumeCaptureRequest;
  /** The claim that is captured. */
  readonly claim: ObjectKey;
  readonly options: CaptureOptions;
}

/** No server checks what a claim says its volume is called; what cannot be a name is no volume's. */
export const readVolume = async (read: Read, name: string): Promise<PersistentVolume | undefined> =>
  checkPathSegment(name).length > 0 ? undefined : read(PersistentVolume, { name });

// Whatever is waited for wakes the request by an event; this is for events that never come.
const SAFETY = minutes(5);
const BARRIER = seconds(1);

export const waitForEvent = (pass: Pass, why: string): Outcome => waitUntil(plus(pass.now, SAFETY), why);

/** The keeper's uid is not known: no artifact before it is. */
export const waitForKeeper = (pass: Pass): Outcome => waitUntil(plus(pass.now, BARRIER), 'keeper uid');

/** A dry run ends here: without a keeper nothing can be owned. The request stays pending. */
export function wouldCapture({ pass, request, claim }: Work): Outcome {
  const note = `would capture claim ${claim.namespace}/${claim.name} (dry run)`;
  pass.event(request, { type: 'Normal', reason: 'WouldCapture', action: 'Capture', note });
  return settled();
}
