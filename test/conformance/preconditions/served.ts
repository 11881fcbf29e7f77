// The kinds that can be created and deleted according to the discovery documents of a server.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Ask } from '../model/ask.ts';

export interface Served {
  /** `jobs.batch`, `pods`. */
  readonly id: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly root: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export async function servedKinds(ask: Ask): Promise<Served[]> {
  const groups = await groupVersions(ask);
  const lists = await Promise.all(groups.map((gv) => resourcesOf(ask, gv)));
  return lists.flat();
}

async function groupVersions(ask: Ask): Promise<string[]> {
  const { body } = await ask('GET', '/apis');
  const groups = isObject(body) ? ((body.groups ?? []) as JsonObject[]) : [];
  return ['v1', ...groups.map((g) => String((g.preferredVersion as JsonObject).groupVersion))];
}

async function resourcesOf(ask: Ask, apiVersion: string): Promise<Served[]> {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const { body } = await ask('GET', root);
  const resources = isObject(body) ? ((body.resources ?? []) as JsonObject[]) : [];
  return resources
    .filter((r) => ['create', 'delete', 'get'].every((verb) => (r.verbs as string[]).includes(verb)))
    .filter((r) => !String(r.name).includes('/'))
    .map((r) => ({
      id: group ? `${String(r.name)}.${group}` : String(r.name),
      kind: String(r.kind),
      apiVersion,
      root,
      plural: String(r.name),
      namespaced: r.namespaced === true,
    }));
}
