// Discovery of the served groups, versions and resources. Two negotiated forms: aggregated and legacy.

import { methodNotAllowed, noSuchResource } from '@lapse/kube/api/errors';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { orderedGroups } from '../aggregation/priorities.ts';
import type { Core } from '../context.ts';
import { negotiate } from '../http/negotiate.ts';
import type { Path } from '../http/path.ts';
import { encode, notFoundPage } from '../http/respond.ts';
import { aggregated, aggregatedEncoding } from './aggregated.ts';
import { coreVersions, groupList, oneGroup, resourceList } from './legacy.ts';

type DiscoveryPath = Extract<Path, { kind: 'discovery' }>;

// The address of the server inside a cluster; current clients ignore it.
const SERVER_ADDRESS = '127.0.0.1:443';

export async function discover(core: Core, path: DiscoveryPath, request: HttpRequest): Promise<HttpResponse> {
  if (path.level === 'core' && request.method !== 'GET') throw methodNotAllowed();
  if (path.level === 'core' || path.level === 'groups') {
    const encoding = aggregatedEncoding(request.headers['accept']);
    if (encoding) return aggregated(core, path.level, encoding, request);
  }
  const found = describe(core, path);
  if (!found) return notFoundPage();
  if (found.routed && request.method !== 'GET') throw methodNotAllowed();
  const offer = { custom: !found.routed, transforms: false };
  return encode(200, found.document, negotiate(request.headers['accept'], offer));
}

interface Found {
  readonly document: object;
  /** True when the router of built-in resources answers, which checks methods and media types. */
  readonly routed: boolean;
}

function describe({ registry, aggregator }: Core, path: DiscoveryPath): Found | undefined {
  switch (path.level) {
    case 'core':
      return { document: coreVersions(SERVER_ADDRESS), routed: true };
    case 'groups':
      return { document: groupList(orderedGroups(registry, aggregator.registrations())), routed: false };
    case 'group': {
      const groups = orderedGroups(registry, aggregator.registrations());
      const group = groups.find((g) => g.group === path.group);
      return group && { document: oneGroup(group), routed: false };
    }
    case 'version': {
      const { group, version } = path;
      const resources = registry.version(group, version);
      const custom = registry.isCustomGroup(group);
      if (resources) return { document: resourceList(group, version, resources), routed: !custom };
      if (registry.hasGroup(group) && !custom) throw noSuchResource();
      return undefined;
    }
  }
}
