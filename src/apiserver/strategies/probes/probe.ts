// Requests that are sent to the embedded server and to a real one: their answers must be the same. `{ns}` in paths and
// bodies is a name nobody used before; a namespace of that name exists.

import type { Json, JsonObject } from '#api/json';

export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Default: application/json, or a merge patch for PATCH. */
  readonly type?: string;
}

export interface Probe {
  readonly name: string;
  readonly steps: readonly Step[];
}

export const post = (path: string, body: Json): Step => ({ method: 'POST', path, body });
export const put = (path: string, body: Json): Step => ({ method: 'PUT', path, body });
export const patch = (path: string, body: Json): Step => ({ method: 'PATCH', path, body });
export const strategic = (path: string, body: Json): Step => ({
  method: 'PATCH',
  path,
  body,
  type: 'application/strategic-merge-patch+json',
});
export const del = (path: string): Step => ({ method: 'DELETE', path });
export const get = (path: string): Step => ({ method: 'GET', path });

/** Paths of one resource: the collection and one object. */
export function resource(apiVersion: string, kind: string, plural: string, namespaced = true) {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const all = namespaced ? `${root}/namespaces/{ns}/${plural}` : `${root}/${plural}`;
  const name = namespaced ? 'x' : '{ns}';
  const one = `${all}/${name}`;
  const object = (fields: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
    apiVersion,
    kind,
    metadata: { name, ...metadata },
    ...fields,
  });
  return {
    all,
    one,
    object,
    /** Create, and show what was stored. */
    create: (probe: string, fields: JsonObject, metadata?: JsonObject): Probe => ({
      name: `${kind}: ${probe}`,
      steps: [post(all, object(fields, metadata))],
    }),
    /** Create one, then send it these merge patches. */
    patches: (probe: string, fields: JsonObject, ...bodies: Json[]): Probe => ({
      name: `${kind}: ${probe}`,
      steps: [post(all, object(fields)), ...bodies.map((body) => patch(one, body))],
    }),
    /** The same through a subresource. */
    subPatches: (probe: string, sub: string, fields: JsonObject, ...bodies: Json[]): Probe => ({
      name: `${kind}/${sub}: ${probe}`,
      steps: [post(all, object(fields)), ...bodies.map((body) => patch(`${one}/${sub}`, body))],
    }),
    /** Any steps after creating one. */
    after: (probe: string, fields: JsonObject, ...steps: Step[]): Probe => ({
      name: `${kind}: ${probe}`,
      steps: [post(all, object(fields)), ...steps],
    }),
  };
}
