// Which part of an object is stored in a checkpoint: all of it, except where the operator restricts Secrets or
// selects the profile `clean`, which keeps what users wrote and drops what the cluster added. Pure functions.

import type { KubeObject } from '@lapse/kube/api/object';
import { ANNOTATION_REDACTED } from '#api/stateSnapshotter/conditions';
import { buildManifest } from '#checkpoint/manifest';
import { cleanManifest, isKept } from './clean.ts';
import type { ManifestPolicy } from './policy.ts';

/** Undefined: the profile skips the object. */
export function computeManifest(
  object: KubeObject,
  { secrets, profile }: Pick<ManifestPolicy, 'secrets' | 'profile'>,
): KubeObject | undefined {
  if (profile === 'clean' && !isKept(object)) return undefined;
  const manifest = buildManifest(object);
  const open = profile === 'clean' ? cleanManifest(manifest) : manifest;
  return secrets === 'redact' && isSecret(object) ? redact(open) : open;
}

export const isSecret = ({ apiVersion, kind }: KubeObject): boolean =>
  apiVersion === 'v1' && kind === 'Secret';

/** `kubectl apply` stores the complete Secret in this annotation too. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Removes the values. The mark prevents a restore over a Secret that has values. */
function redact(secret: KubeObject): KubeObject {
  const { data: _, stringData: __, ...rest } = secret;
  const { [LAST_APPLIED]: ___, ...annotations } = secret.metadata.annotations ?? {};
  return {
    ...(rest as KubeObject),
    metadata: { ...secret.metadata, annotations: { ...annotations, [ANNOTATION_REDACTED]: 'true' } },
  };
}
