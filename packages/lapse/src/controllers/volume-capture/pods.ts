// Which Pods use a claim. The cache keeps only the claims of each Pod and whether it has finished.

import type { ObjectKey } from '@lapse/kube/api/kind';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Projection } from '@lapse/runtime/source';
import { claimText } from './decide.ts';

interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
}

/** A finished Pod does not use its claims. */
const hasEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

const volumesOf = (pod: Pod): readonly Volume[] =>
  (pod.spec as { volumes?: readonly Volume[] } | undefined)?.volumes ?? [];

/** `ns/name` of the claims of a Pod. The claim of an ephemeral volume is named after the Pod and the volume. */
function claimsOf(pod: Pod): string[] {
  const { namespace = '', name = '' } = pod.metadata;
  const claims: string[] = [];
  for (const volume of volumesOf(pod)) {
    const claim = volume.ephemeral ? `${name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
    if (claim) claims.push(claimText({ namespace, name: claim }));
  }
  return claims;
}

export const claimingPods: Projection<Pod> = {
  name: 'claims',
  project(pod) {
    const { namespace, name, uid, resourceVersion } = pod.metadata;
    const volumes = volumesOf(pod)
      .filter((volume) => volume.persistentVolumeClaim || volume.ephemeral)
      .map((volume) =>
        volume.ephemeral
          ? { name: volume.name, ephemeral: {} }
          : { persistentVolumeClaim: volume.persistentVolumeClaim },
      );
    return {
      apiVersion: pod.apiVersion,
      kind: pod.kind,
      metadata: { namespace: namespace!, name: name!, uid: uid!, resourceVersion: resourceVersion! },
      ...(volumes.length === 0 ? {} : { spec: { volumes } as unknown as NonNullable<Pod['spec']> }),
      ...(pod.status?.phase === undefined ? {} : { status: { phase: pod.status.phase } }),
    };
  },
};

export const CLAIM_INDEX = 'claim';
export const podIndexes = { [CLAIM_INDEX]: (pod: Pod): string[] => (hasEnded(pod) ? [] : claimsOf(pod)) };

/** Names of the Pods that use the claim and have not finished. Read from the API server while Pods are not watched. */
export async function getUsers(ctx: ReconcileContext, claim: ObjectKey): Promise<string[]> {
  const namespace = claim.namespace ?? '';
  const users = ctx.cache.isSynced(Pod)
    ? ctx.cache.byIndex(Pod, CLAIM_INDEX, claimText(claim))
    : (await ctx.client.list(Pod, { namespace })).items.filter((pod) =>
        podIndexes[CLAIM_INDEX](pod).includes(claimText(claim)),
      );
  return users.map((pod) => pod.metadata.name!);
}
