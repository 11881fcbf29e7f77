// Serves /healthz, /livez, /readyz and /metrics on one port. Plain text without authentication, because nothing is secret.

import { METRICS_CONTENT_TYPE } from '@lapse/base/prometheus';
import type { HttpHandler } from '@lapse/kube/api/http';
import { text } from './listen.ts';

export interface StatusOptions {
  /** A message if the process is unhealthy, otherwise undefined. The kubelet restarts an unhealthy process. */
  readonly health?: () => string | undefined;
  readonly readiness: () => { readonly ready: boolean; readonly problems: readonly string[] };
  readonly metrics: () => string;
}

export function statusHandler({ health, readiness, metrics }: StatusOptions): HttpHandler {
  const readyz = () => {
    const { ready, problems } = readiness();
    // The process can be ready despite problems, because other controllers work. The response lists the problems anyway.
    const lines = problems.map((problem) => `${problem}\n`).join('');
    return text(ready ? 200 : 503, `${ready ? 'ok' : 'not ready'}\n${lines}`);
  };
  const healthz = () => {
    const problem = health?.();
    return problem === undefined ? text(200, 'ok\n') : text(503, `${problem}\n`);
  };
  return async ({ method, path }) => {
    if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET\n');
    switch (path.split('?')[0]) {
      case '/healthz':
      case '/livez':
        return healthz();
      case '/readyz':
        return readyz();
      case '/metrics':
        return text(200, metrics(), METRICS_CONTENT_TYPE);
      default:
        return text(404, 'not found; available paths: /healthz, /livez, /readyz, /metrics\n');
    }
  };
}
