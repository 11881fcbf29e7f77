// Discovery documents of an aggregated API server, in the three formats that clients and the kube-apiserver request.

import type { JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf } from '@lapse/kube/api/object';
import type { AggregatedApi, AggregatedResource } from './api.ts';

export const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const singularOf = ({ kind, singular = kind.toLowerCase() }: AggregatedResource): string => singular;
const fullName = ({ resource, subresource }: AggregatedResource): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

const groupOf = ({ group, version }: AggregatedApi): JsonObject => {
  const served = { groupVersion: apiVersionOf({ group, version }), version };
  return { name: group, versions: [served], preferredVersion: served };
};

export const groupList = (api: AggregatedApi): JsonObject => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [groupOf(api)],
});

export const groupDocument = (api: AggregatedApi): JsonObject => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupOf(api),
});

export const resourceList = (api: AggregatedApi): JsonObject => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: apiVersionOf(api),
  resources: api.resources.map((resource) => ({
    name: fullName(resource),
    singularName: resource.subresource === undefined ? singularOf(resource) : '',
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: [...resource.verbs],
    ...(resource.shortNames === undefined ? {} : { shortNames: [...resource.shortNames] }),
  })),
});

/** The parent of a subresource must be listed too, even if it has no verbs. */
export function discoveryList(api: AggregatedApi): JsonObject {
  const { group, version, resources } = api;
  const kindOf = ({ kind }: AggregatedResource): JsonObject => ({ group, version, kind });
  const names = [...new Set(resources.map(({ resource }) => resource))];
  const items = names.map((name): JsonObject => {
    const all = resources.filter(({ resource }) => resource === name);
    const main = all.find(({ subresource }) => subresource === undefined);
    const first = main ?? all[0]!;
    const below = all.filter(({ subresource }) => subresource !== undefined);
    return {
      resource: name,
      responseKind: kindOf(first),
      scope: first.namespaced ? 'Namespaced' : 'Cluster',
      singularResource: singularOf(first),
      verbs: [...(main?.verbs ?? [])],
      ...(main?.shortNames === undefined ? {} : { shortNames: [...main.shortNames] }),
      ...(below.length === 0
        ? {}
        : {
            subresources: below.map((one) => ({
              subresource: one.subresource!,
              responseKind: kindOf(one),
              verbs: [...one.verbs],
            })),
          }),
    };
  });
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [{ metadata: { name: group }, versions: [{ version, resources: items, freshness: 'Current' }] }],
  };
}
