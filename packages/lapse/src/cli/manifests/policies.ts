// The ValidatingAdmissionPolicies of enabled feature gates, each with a binding that denies. Pure.

import type { KubeObject } from '@lapse/kube/api/object';
import type { AdmissionPolicy } from '#controllers/family';
import { clusterMetadataOf, type Installation, openGates } from './installation.ts';

export const buildPolicies = (installation: Installation): KubeObject[] =>
  installation.families
    .flatMap((family) => openGates(installation, family))
    .flatMap(({ policies }) => policies)
    .flatMap((policy) =>
      policyObjects(policy, clusterMetadataOf(installation, `${installation.name}-${policy.name}`)),
    );

/** The policy and its binding, which share their metadata. */
export function policyObjects({ spec }: AdmissionPolicy, metadata: KubeObject['metadata']): KubeObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return [
    { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec } as KubeObject,
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name!, validationActions: ['Deny'] },
    } as KubeObject,
  ];
}
