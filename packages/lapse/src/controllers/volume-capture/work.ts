// What the steps of one pass are handed, and the few ways in which they wait.

import { assertNever } from '@lapse/base/assertNever';
import { minutes, plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { PersistentVolume } from '@lapse/kube/api/kinds/volumes';
import { checkPathSegment } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { Read } from '#requests/direct';
import type { CaptureOptions } from './policy.ts';

/** The options, and what one process knows beside what is recorded in the requests. */
export interface CaptureContext extends CaptureOptions {
  /** Requests, by key, whose create of a content got no answer: this process may send it again. Values are uids. */
  readonly unanswered: Map<string, string>;
}

export interface Work {
  readonly pass: Pass;
  readonly request: VolumeCaptureRequest;
  /** The claim that is captured. */
  readonly claim: ObjectKey;
  readonly options: CaptureContext;
}

/** Writes an annotation into the request, before the step that it is the record of. */
export async function recordStep(
  { pass, request }: Work,
  annotation: string,
  value: string,
): Promise<{ request: VolumeCaptureRequest } | { not: Outcome }> {
  if (request.metadata.annotations?.[annotation] === value) return { request };
  const patch = { metadata: { annotations: { [annotation]: value } } };
  const answer = await pass.client.patch(
    VolumeCaptureRequest,
    keyOf(request),
    { type: 'merge', patch },
    premiseOf(request),
  );
  switch (answer.kind) {
    case 'patched':
      return { request: answer.object };
    case 'missing':
      return { not: settled() };
    case 'conflict':
      return { not: again('the request changed') };
    case 'invalid':
      return { not: failed(answer.error) };
    default:
      return assertNever(answer);
  }
}

/** Only if it is still this object, unchanged. */
export const premiseOf = ({ metadata }: KubeObject): { ifVersion: string; ifUid: string } => ({
  ifVersion: metadata.resourceVersion!,
  ifUid: metadata.uid!,
});

/** No server checks what a claim says its volume is called; what cannot be a name is no volume's. */
export const readVolume = async (read: Read, name: string): Promise<PersistentVolume | undefined> =>
  checkPathSegment(name).length > 0 ? undefined : read(PersistentVolume, { name });

// Whatever is waited for wakes the request by an event; this is for events that never come.
const SAFETY = minutes(5);
const BARRIER = seconds(1);
/** Without a watch, no event comes. */
const POLL = seconds(30);

/** Waits for a change of an object of this kind. */
export const waitForEvent = (pass: Pass, why: string, kind: Kind): Outcome =>
  waitUntil(plus(pass.now, pass.cache.isSynced(kind) ? SAFETY : POLL), why);

/** The keeper's uid is not known: no artifact before it is. */
export const waitForKeeper = (pass: Pass): Outcome => waitUntil(plus(pass.now, BARRIER), 'keeper uid');

/** A dry run ends here: without a keeper nothing can be owned. The request stays pending. */
export function wouldCapture({ pass, request, claim }: Work): Outcome {
  const note = `would capture claim ${claim.namespace}/${claim.name} (dry run)`;
  pass.event(request, { type: 'Normal', reason: 'WouldCapture', action: 'Capture', note });
  return settled();
}
