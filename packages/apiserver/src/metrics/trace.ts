// Records the metrics of one request from arrival to response.

import type { HttpRequest } from '@lapse/kube/api/http';
import type { Core } from '../context.ts';
import type { Path } from '../http/path.ts';
import { booleanParam, type Query } from '../http/query.ts';
import type { RequestLabels } from './requests.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

export class RequestTrace {
  readonly #core: Core;
  readonly #request: HttpRequest;
  readonly #started: number;
  readonly #kind: 'mutating' | 'readOnly';
  #path: Path | undefined;
  #query: Query | undefined;

  constructor(core: Core, request: HttpRequest) {
    this.#core = core;
    this.#request = request;
    this.#started = core.clock.elapsed();
    this.#kind = READING.has(request.method) ? 'readOnly' : 'mutating';
    core.metrics.begin(this.#kind);
  }

  /** Called after the path is parsed; a request that fails earlier is counted without a resource. */
  route(path: Path, query: Query): void {
    this.#path = path;
    this.#query = query;
  }

  end(code: number): void {
    const { metrics } = this.#core;
    metrics.end(this.#kind);
    metrics.record(this.#labels(), code, (this.#core.clock.elapsed() - this.#started) / 1000);
  }

  #labels(): RequestLabels {
    const path = this.#path;
    // Only served resources become labels: arbitrary paths of clients must not fill the memory.
    if (path?.kind === 'resource') {
      const resource = this.#core.registry.get(path.group, path.version, path.resource);
      const known = resource?.subresources.some((s) => s.name === path.subresource);
      if (resource) return this.#resourceLabels(path, known ? path.subresource! : '');
    }
    return { ...NOTHING, verb: METHODS.has(this.#request.method) ? this.#request.method : 'other' };
  }

  #resourceLabels(path: Extract<Path, { kind: 'resource' }>, subresource: string): RequestLabels {
    const verb = this.#verb(path);
    const { group, version, resource } = path;
    const one = path.name !== undefined || verb === 'POST';
    return {
      verb,
      group,
      version,
      resource,
      subresource,
      scope: one ? 'resource' : path.namespace === undefined ? 'cluster' : 'namespace',
      dryRun: this.#query?.has('dryRun') ?? false,
    };
  }

  #verb(path: Extract<Path, { kind: 'resource' }>): string {
    const { method, headers } = this.#request;
    const query = this.#query!;
    switch (method) {
      case 'GET':
        if (path.watch || (path.name === undefined && booleanParam(query, 'watch'))) return 'WATCH';
        return path.name === undefined ? 'LIST' : 'GET';
      case 'PATCH':
        return headers['content-type']?.startsWith('application/apply-patch') ? 'APPLY' : 'PATCH';
      case 'DELETE':
        return path.name === undefined ? 'DELETECOLLECTION' : 'DELETE';
      default:
        return METHODS.has(method) ? method : 'other';
    }
  }
}

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
const NOTHING = { group: '', version: '', resource: '', subresource: '', scope: '', dryRun: false };
