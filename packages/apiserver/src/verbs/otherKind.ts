// Endpoints that show and accept an object of another kind than the resource (`/scale`). Admission sees that kind.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Write } from '../admission/write.ts';
import type { Call } from '../context.ts';

export interface OtherKind {
  readonly kind: NonNullable<Write['kind']>;
  show(object: KubeObject): KubeObject;
  /** Returns the object with the changes from the other kind. */
  take(object: KubeObject, shown: KubeObject): KubeObject;
}

export function asShown(other: OtherKind | undefined, write: Write): Write {
  if (!other) return write;
  const { kind, show } = other;
  return { ...write, kind, object: write.object && show(write.object), old: write.old && show(write.old) };
}

/** The object of a write after mutating admission. */
export async function mutated(call: Call, other: OtherKind | undefined, write: Write): Promise<KubeObject> {
  const shown = asShown(other, write);
  const admitted = (await call.core.admission.mutate(call, shown))!;
  if (!other) return admitted;
  return admitted === shown.object ? write.object! : other.take(write.object!, admitted);
}
