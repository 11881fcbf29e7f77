// The manifests for reading checkpoints through the API server: the APIService, a Service, the rights of the process,
// and a role for users. Applied in addition to the rest, where manifest-capture runs.

import type { KubeObject } from '@lapse/kube/api/object';
import { apiServiceName } from '@lapse/runtime/aggregated/registration';
import { READ_GROUP, READ_VERSION } from './readApi.ts';

export interface ReadApiPlace {
  /** Name of the installation: its service account, and the prefix of all names here. */
  readonly name: string;
  readonly namespace: string;
  /** Selects the Pods that serve the API. */
  readonly selector: Readonly<Record<string, string>>;
  /** The port of `--api-port` in those Pods. */
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
        // Lower than that of the kinds themselves, so that `kubectl get manifestcheckpoints` means those.
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
    // The client CA of the front proxy is published there. Every cluster has this Role.
    binding(place, { name, namespace: 'kube-system' }, ['Role', 'extension-apiserver-authentication-reader']),
    // For users. The operator binds it: it gives access to every captured Secret.
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
