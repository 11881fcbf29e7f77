// Discovery: which groups, versions and resources are served, in the legacy form.

import { noSuchResource } from '#api/errors';
import type { HttpRequest, HttpResponse } from '#api/http';
import { apiVersionOf } from '#api/object';
import type { Core } from './context.ts';
import type { Path } from './path.ts';
import type { Resource } from './resources/resource.ts';
import { jsonResponse, textResponse } from './respond.ts';

type DiscoveryPath = Extract<Path, { kind: 'discovery' }>;

export async function discover(
  core: Core,
  path: DiscoveryPath,
  _request: HttpRequest,
): Promise<HttpResponse> {
  switch (path.level) {
    case 'core':
      return jsonResponse(200, {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
      });
    case 'groups':
      return jsonResponse(200, {
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: core.registry
          .groups()
          .filter((g) => g.group !== '')
          .map(groupJson),
      });
    case 'group': {
      const group = core.registry.groups().find((g) => g.group === path.group);
      if (!group) return textResponse(404, '404 page not found\n');
      return jsonResponse(200, { kind: 'APIGroup', apiVersion: 'v1', ...groupJson(group) });
    }
    case 'version': {
      const resources = core.registry.version(path.group, path.version);
      if (!resources) {
        if (!core.registry.hasGroup(path.group)) return textResponse(404, '404 page not found\n');
        throw noSuchResource();
      }
      const groupVersion = apiVersionOf(path);
      return jsonResponse(200, {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion,
        resources: resources.flatMap(resourceJson),
      });
    }
  }
}

function groupJson({ group, versions }: { group: string; versions: readonly string[] }) {
  const list = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: list, preferredVersion: list[0] };
}

function resourceJson(r: Resource): object[] {
  const main = {
    name: r.plural,
    singularName: r.singular,
    namespaced: r.namespaced,
    kind: r.kind,
    verbs: r.verbs,
    ...(r.shortNames.length > 0 ? { shortNames: r.shortNames } : {}),
    ...(r.categories.length > 0 ? { categories: r.categories } : {}),
    ...(r.storageVersionHash ? { storageVersionHash: r.storageVersionHash } : {}),
  };
  const subs = r.subresources.map((s) => ({
    name: `${r.plural}/${s.name}`,
    singularName: '',
    namespaced: r.namespaced,
    ...(s.group !== undefined ? { group: s.group, version: s.version } : {}),
    kind: s.kind,
    verbs: s.verbs,
  }));
  return [main, ...subs];
}
