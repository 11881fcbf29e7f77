// What of an object goes into a checkpoint: all of it, unless the operator decided otherwise about Secrets, or chose the
// profile `clean`, which keeps what people wrote and drops what the cluster made of it. Pure.

import type { KubeObject } from '@lapse/kube/api/object';
import { ANNOTATION_REDACTED } from '#api/stateSnapshotter/conditions';
import { buildManifest } from '#checkpoint/manifest';
import { cleanManifest, isKept } from './clean.ts';
import type { ManifestPolicy } from './policy.ts';

/** Undefined: the profile leaves the object out. */
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

/** `kubectl apply` writes the whole Secret there as well. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Without values. The mark keeps it from being restored over a Secret that has them. */
function redact(secret: KubeObject): KubeObject {
  const { data: _, stringData: __, ...rest } = secret;
  const { [LAST_APPLIED]: ___, ...annotations } = secret.metadata.annotations ?? {};
  return {
    ...(rest as KubeObject),
    metadata: { ...secret.metadata, annotations: { ...annotations, [ANNOTATION_REDACTED]: 'true' } },
  };
}
