// Paths outside the API groups: version, health, metrics, OpenAPI, and the list of all paths.

import { methodNotAllowed, notAcceptable } from '@lapse/kube/api/errors';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { orderedGroups } from '../aggregation/priorities.ts';
import type { Core } from '../context.ts';
import { servedData } from '../data/tables.ts';
import { metricsPage } from '../metrics/metrics.ts';
import { openApi } from '../openapi/serve.ts';
import { health, healthPaths } from './health.ts';
import { bytesResponse, JSON_TYPE, notFoundPage } from './respond.ts';

export async function otherPath(
  core: Core,
  path: string,
  query: URLSearchParams,
  request: HttpRequest,
): Promise<HttpResponse> {
  if (path === '/') return indented({ paths: allPaths(core) });
  if (path === '/version' || path === '/version/') return version(request);
  if (path === '/metrics') return metricsPage(core);
  return health(core, path, query) ?? (await openApi(core, path, query, request)) ?? notFoundPage();
}

const indented = (value: object): HttpResponse =>
  bytesResponse(200, Buffer.from(JSON.stringify(value, null, 2)), JSON_TYPE);

function allPaths({ registry, aggregator }: Core): string[] {
  const served = [
    ...registry.groups().filter(({ group }) => group === ''),
    ...orderedGroups(registry, aggregator.registrations()),
  ];
  const groups = served.flatMap(({ group, versions }) => {
    const root = group === '' ? '/api' : `/apis/${group}`;
    return [root, ...versions.map((v) => `${root}/${v}`)];
  });
  const fixed = ['/apis', '/apis/', '/metrics', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'];
  return [...groups, ...healthPaths(), ...fixed].sort();
}

// Build metadata after the plus sign: the version compares like the Kubernetes version and still identifies Lapse.
const BUILD = '+lapse';

const PLATFORMS: Readonly<Record<string, string>> = { win32: 'windows', x64: 'amd64', ia32: '386' };
const platformName = (name: string) => PLATFORMS[name] ?? name;

function version(request: HttpRequest): HttpResponse {
  if (request.method !== 'GET') throw methodNotAllowed();
  const accept = request.headers['accept'] ?? '';
  if (accept !== '' && !/(^|,)\s*(application\/json|\*\/\*)\s*(;|,|$)/.test(accept))
    throw notAcceptable([JSON_TYPE]);
  const recorded = servedData().version;
  return indented({
    ...recorded,
    gitVersion: `${recorded['gitVersion']}${BUILD}`,
    gitCommit: 'unknown',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'v8',
    platform: `${platformName(process.platform)}/${platformName(process.arch)}`,
  });
}
