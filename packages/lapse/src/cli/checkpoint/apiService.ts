// What a cluster needs so that checkpoints are read through its API server: the registration, a Service to find us by, the
// rights of the process, and a role for people. Applied beside the rest, where manifest-capture runs.

import type { KubeObject } from '@lapse/kube/api/object';
import { apiServiceName } from '@lapse/runtime/aggregated/registration';
import { READ_GROUP, READ_VERSION } from './readApi.ts';

export interface ReadApiPlace {
  /** Of the installation: its service account, and the beginning of all names here. */
  readonly name: string;
  readonly namespace: string;
  /** Which Pods answer. */
  readonly selector: Readonly<Record<string, string>>;
  /** Of `--api-port` in those Pods. */
  readonly targetPort: number;
}

const RBAC = 'rbac.authorization.k8s.io';

export function buildReadApi(place: ReadApiPlace): KubeObject[] {
  const { namespace, selector, targetPort } = place;
  const name = `${place.name}-api`;
  const registered = apiServiceName({ group: READ_GROUP, version: READ_VERSION });
  const rule = (apiGroup: string, resource: string, verbs: readonly string[], names?: readonly string[]) => ({
    apiGroups: [apiGroup],
    resources: [resource],
    verbs,
    ...(names === undefined ? {} : { resourceNames: names }),
  });
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { selector, ports: [{ name: 'api', port: 443, targetPort }] },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: registered },
      spec: {
        group: READ_GROUP,
        version: READ_VERSION,
        // Below that of the kinds themselves: `kubectl get manifestcheckpoints` means those.
        groupPriorityMinimum: 999,
        versionPriority: 15,
        service: { name, namespace, port: 443 },
      },
    },
    role('ClusterRole', { name: `${place.name}:read-api` }, [
      rule('apiregistration.k8s.io', 'apiservices', ['get', 'update'], [registered]),
      rule('authorization.k8s.io', 'subjectaccessreviews', ['create']),
      rule('state-snapshotter.deckhouse.io', 'manifestcheckpoints', ['get']),
      rule('state-snapshotter.deckhouse.io', 'manifestcheckpointcontentchunks', ['get']),
    ]),
    binding(place, { name: `${place.name}:read-api` }, ['ClusterRole', `${place.name}:read-api`]),
    // Whom to believe is published there; every cluster has the Role.
    binding(place, { name, namespace: 'kube-system' }, ['Role', 'extension-apiserver-authentication-reader']),
    // For people, by a binding of the operator's: it shows every captured Secret.
    role('ClusterRole', { name: `${place.name}:checkpoint-reader` }, [
      rule('state-snapshotter.deckhouse.io', 'manifestcheckpoints', ['get', 'list']),
      rule(READ_GROUP, 'manifestcheckpoints/manifests', ['get']),
    ]),
  ];
}

const role = (kind: string, metadata: KubeObject['metadata'], rules: readonly object[]): KubeObject => ({
  apiVersion: `${RBAC}/v1`,
  kind,
  metadata,
  rules,
});

function binding(
  { name, namespace }: ReadApiPlace,
  metadata: KubeObject['metadata'],
  [kind, of]: readonly [string, string],
): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: metadata.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: of },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
}
