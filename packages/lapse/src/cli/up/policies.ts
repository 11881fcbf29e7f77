// The ValidatingAdmissionPolicies of feature gates on the embedded API server: installed while the gate is enabled,
// and removed when a later start with the same data disables it.

import { defineKind, type Kind } from '@lapse/kube/api/kind';
import { OURS } from '@lapse/kube/api/kinds/customKind';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { Family } from '#controllers/family';
import { policyObjects } from '../manifests/policies.ts';

const kindOf = (kind: string, resource: string): Kind =>
  defineKind({ group: 'admissionregistration.k8s.io', version: 'v1', kind, resource, namespaced: false });
const KINDS = [
  kindOf('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  kindOf('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
];

export async function applyPolicies(
  client: Client,
  families: readonly Family[],
  isEnabled: (gate: string) => boolean,
): Promise<void> {
  for (const gate of families.flatMap(({ gates }) => gates))
    for (const policy of gate.policies ?? []) {
      const name = `lapse-${policy.name}`;
      for (const object of policyObjects(policy, { name, labels: { ...OURS } })) {
        const kind = KINDS.find((one) => one.kind === object.kind)!;
        if (isEnabled(gate.name)) objectOf(await client.apply(kind, object, { force: true }));
        else await client.delete(kind, { name });
      }
    }
}
