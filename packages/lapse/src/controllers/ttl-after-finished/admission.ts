// ValidatingAdmissionPolicies for the gate TTLAfterFinishedPods. They refuse the TTL annotation where it has no effect:
// in Pod templates of Jobs and CronJobs, and on Pods with restartPolicy Always.
//
// They never block a running controller: an UPDATE is refused only if it adds the annotation, and objects that a
// controller creates from an existing template are admitted. If an expression cannot be evaluated, the request is
// admitted (failurePolicy Ignore), because the controller skips such Pods in any case.

import type { JsonObject } from '@lapse/kube/api/json';
import { POD_TTL_ANNOTATION } from '#expiry/pod';
import type { AdmissionPolicy } from '../family.ts';

interface Refusal {
  readonly name: string;
  readonly group: string;
  readonly resources: readonly string[];
  /** Path from the object to the part that has the annotations. */
  readonly path: string;
  /** Refuse only if restartPolicy is Always. */
  readonly onlyAlways: boolean;
  /** A controller creates such objects from a template. */
  readonly isCreatedByController: boolean;
  readonly message: string;
}

const JOB_PODS = 'may not be set on the Pods of a';
const FINISHES = 'needs a restartPolicy of OnFailure or Never';

const REFUSALS: readonly Refusal[] = [
  {
    name: 'pod-ttl-in-jobs',
    group: 'batch',
    resources: ['jobs'],
    path: '.spec.template',
    onlyAlways: false,
    isCreatedByController: true,
    message: `${JOB_PODS} Job; set spec.ttlSecondsAfterFinished instead`,
  },
  {
    name: 'pod-ttl-in-cronjobs',
    group: 'batch',
    resources: ['cronjobs'],
    path: '.spec.jobTemplate.spec.template',
    onlyAlways: false,
    isCreatedByController: false,
    message: `${JOB_PODS} CronJob's Jobs; set spec.jobTemplate.spec.ttlSecondsAfterFinished instead`,
  },
  {
    name: 'pod-ttl-in-workloads',
    group: 'apps',
    resources: ['deployments', 'replicasets', 'statefulsets', 'daemonsets'],
    path: '.spec.template',
    onlyAlways: true,
    isCreatedByController: true,
    message: FINISHES,
  },
  {
    name: 'pod-ttl',
    group: '',
    resources: ['pods'],
    path: '',
    onlyAlways: true,
    isCreatedByController: true,
    message: FINISHES,
  },
];

const asks = (at: string): string =>
  `has(${at}.metadata) && has(${at}.metadata.annotations) && '${POD_TTL_ANNOTATION}' in ${at}.metadata.annotations`;

const MADE =
  'oldObject == null && has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller)';

function specOf({ group, resources, path, onlyAlways, isCreatedByController, message }: Refusal): JsonObject {
  const always = onlyAlways ? `object${path}.spec.restartPolicy == 'Always' && ` : '';
  const admitted = [
    '!variables.asks',
    'variables.asked',
    ...(isCreatedByController ? ['variables.made'] : []),
  ];
  return {
    failurePolicy: 'Ignore',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [group],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: [...resources],
        },
      ],
    },
    variables: [
      { name: 'asks', expression: always + asks(`object${path}`) },
      { name: 'asked', expression: `oldObject != null && ${asks(`oldObject${path}`)}` },
      ...(isCreatedByController ? [{ name: 'made', expression: MADE }] : []),
    ],
    validations: [
      { expression: admitted.join(' || '), message: `${POD_TTL_ANNOTATION} ${message}`, reason: 'Invalid' },
    ],
  };
}

export const POD_POLICIES: readonly AdmissionPolicy[] = REFUSALS.map((refusal) => ({
  name: refusal.name,
  spec: specOf(refusal),
}));
