// Tables of role bindings, webhooks and admission policies.

import type { JsonObject } from '@lapse/kube/api/json';
import { isObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { ageOf, at, get, list, nameOf, objects, text, UNSET } from './cells.ts';
import type { Cells } from './printer.ts';
import { selectorStruct } from './selectorText.ts';

const bindingCells: Cells = (binding, now) => {
  const subjects = objects(get(binding, 'subjects'));
  const named = (kind: string, show: (subject: JsonObject) => string) =>
    subjects
      .filter((subject) => subject['kind'] === kind)
      .map(show)
      .join(', ');
  const name = (subject: JsonObject) => text(subject['name']);
  return [
    nameOf(binding),
    `${text(get(binding, 'roleRef', 'kind'))}/${text(get(binding, 'roleRef', 'name'))}`,
    ageOf(binding, now),
    named('User', name),
    named('Group', name),
    named('ServiceAccount', (subject) => `${text(subject['namespace'])}/${name(subject)}`),
  ];
};

const webhookCells: Cells = (object, now) => [
  nameOf(object),
  list(get(object, 'webhooks')).length,
  ageOf(object, now),
];

const policyCells: Cells = (policy, now) => {
  const kind = get(policy, 'spec', 'paramKind');
  return [
    nameOf(policy),
    list(get(policy, 'spec', 'validations')).length,
    kind === undefined ? UNSET : `${text(at(kind, 'apiVersion'))}/${text(at(kind, 'kind'))}`,
    ageOf(policy, now),
  ];
};

const policyBindingCells: Cells = (binding, now) => [
  nameOf(binding),
  text(get(binding, 'spec', 'policyName')),
  paramText(binding),
  ageOf(binding, now),
];

function paramText(binding: KubeObject): string {
  const name = text(get(binding, 'spec', 'paramRef', 'name'));
  // It is unknown here whether the parameter is namespaced.
  if (name !== '') return `${text(get(binding, 'spec', 'paramRef', 'namespace')) || '*'}/${name}`;
  const selector = get(binding, 'spec', 'paramRef', 'selector');
  return isObject(selector) ? selectorStruct(selector) : UNSET;
}

export const ACCESS: Readonly<Record<string, Cells>> = {
  'rolebindings.rbac.authorization.k8s.io': bindingCells,
  'clusterrolebindings.rbac.authorization.k8s.io': bindingCells,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookCells,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookCells,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policyCells,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindingCells,
};
