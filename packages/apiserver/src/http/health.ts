// /healthz, /livez and /readyz: named checks, individually or all together.

import type { HttpResponse } from '@lapse/kube/api/http';
import type { Core } from '../context.ts';
import { notFoundPage, textResponse } from './respond.ts';

/** Undefined means healthy; a string is the reason for the failure. */
type Check = (core: Core) => string | undefined;

const always: Check = () => undefined;
const storage: Check = ({ store }) => store.failure?.message;
const notStopping: Check = ({ isStopping }) => (isStopping() ? 'process is shutting down' : undefined);

// Check names of kube-apiserver that apply here. They always pass: the server answers requests only after it started.
const STARTED: readonly (readonly [name: string, check: Check])[] = [
  ['poststarthook/start-apiextensions-controllers', always],
  ['poststarthook/crd-informer-synced', always],
  ['poststarthook/start-system-namespaces-controller', always],
  ['poststarthook/rbac/bootstrap-roles', always],
  ['poststarthook/bootstrap-controller', always],
  ['poststarthook/apiservice-registration-controller', always],
  ['poststarthook/apiservice-discovery-controller', always],
  ['poststarthook/kube-apiserver-autoregistration', always],
  ['autoregister-completion', always],
  ['poststarthook/apiservice-openapi-controller', always],
  ['poststarthook/apiservice-openapiv3-controller', always],
];
const LIVE = new Map<string, Check>([['ping', always], ['log', always], ['etcd', storage], ...STARTED]);
const READY = new Map<string, Check>([
  ['ping', always],
  ['log', always],
  ['etcd', storage],
  ['etcd-readiness', storage],
  ['informer-sync', always],
  ...STARTED,
  ['shutdown', notStopping],
]);

const CHECKS: Readonly<Record<string, ReadonlyMap<string, Check>>> = {
  healthz: LIVE,
  livez: LIVE,
  readyz: READY,
};

/** All health paths, for the index of all paths. */
export const healthPaths = (): string[] =>
  Object.entries(CHECKS).flatMap(([name, checks]) => [
    `/${name}`,
    ...[...checks.keys()].map((check) => `/${name}/${check}`),
  ]);

const PATH = /^\/(healthz|livez|readyz)(?:\/(.*))?$/;

/** Returns undefined when the path is not a health path. */
export function health(core: Core, path: string, query: URLSearchParams): HttpResponse | undefined {
  const found = PATH.exec(path);
  if (!found) return undefined;
  const name = found[1]!;
  const checks = CHECKS[name]!;
  if (found[2] === undefined) return allChecks(core, { name, checks, query });
  const check = checks.get(found[2]);
  if (!check) return notFoundPage();
  const problem = check(core);
  return problem === undefined ? textResponse(200, 'ok') : plain(500, `internal server error: ${problem}\n`);
}

interface Asked {
  readonly name: string;
  readonly checks: ReadonlyMap<string, Check>;
  readonly query: URLSearchParams;
}

function allChecks(core: Core, { name, checks, query }: Asked): HttpResponse {
  const excluded = new Set(query.getAll('exclude'));
  const lines: string[] = [];
  let failed = false;
  for (const [check, run] of checks) {
    const problem = excluded.has(check) ? undefined : run(core);
    if (problem !== undefined) failed = true;
    lines.push(reportLine(check, excluded.has(check), problem !== undefined));
  }
  const unknown = [...excluded].filter((check) => !checks.has(check)).sort();
  if (unknown.length > 0) {
    const names = unknown.map((check) => JSON.stringify(check)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (failed) return plain(500, `${lines.join('\n')}\n${name} check failed\n`);
  return plain(200, query.has('verbose') ? `${lines.join('\n')}\n${name} check passed\n` : 'ok');
}

// The endpoint is public, so it withholds the reason. The single check shows it to authorized users.
function reportLine(check: string, excluded: boolean, failed: boolean): string {
  if (excluded) return `[+]${check} excluded: ok`;
  return failed ? `[-]${check} failed: reason withheld` : `[+]${check} ok`;
}

function plain(status: number, text: string): HttpResponse {
  const response = textResponse(status, text);
  return { ...response, headers: { ...response.headers, 'x-content-type-options': 'nosniff' } };
}
