// The setup for bad requests: a namespace with one ConfigMap and one Widget that must stay unchanged.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asker } from '../model/ask.ts';
import { exchange } from '../replay/exchange.ts';
import type { Target, WireResponse } from '../replay/types.ts';
import type { BadRequest } from './requests.ts';

const NS = 'bad-input';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const KINDS = [
  `/api/v1/namespaces/${NS}/configmaps`,
  `/apis/batch/v1/namespaces/${NS}/jobs`,
  `/apis/bad.example.com/v1/namespaces/${NS}/widgets`,
];

export interface Stage {
  send(request: BadRequest): Promise<WireResponse>;
  /** Everything the requests could have changed, with its versions. */
  contents(): Promise<Json>;
  /** Restores everything after a change. */
  restore(): Promise<void>;
}

export async function prepareStage(target: Target): Promise<Stage> {
  const ask = asker(target);
  const create = async (path: string, object: JsonObject) => {
    const { status, body } = await ask('POST', path, object);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`);
  };
  await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  await create(DEFINITIONS, definition);
  await untilServed(() => ask('GET', KINDS[2]!));
  const fillStage = async () => {
    await create(KINDS[0]!, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kept' },
      data: { k: 'v' },
    });
    const widget = {
      apiVersion: 'bad.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'kept' },
      spec: { n: 1 },
    };
    await create(KINDS[2]!, widget);
  };
  await fillStage();
  return {
    send: (request) => exchange(toHttp(request, target), target),
    contents: async () => {
      const lists = await Promise.all(KINDS.map((path) => ask('GET', path)));
      return lists.map(({ body }) => (isObject(body) ? (body.items ?? null) : null));
    },
    restore: async () => {
      for (const path of KINDS) await ask('DELETE', `${path}?propagationPolicy=Background`);
      await fillStage();
    },
  };
}

/** It takes a moment after the creation of a CRD until its objects are accepted everywhere. */
async function untilServed(get: () => Promise<WireResponse>): Promise<void> {
  for (let tries = 0; (await get()).status !== 200; tries++) {
    if (tries === 200) throw new Error('the definition was never established');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.bad.example.com' },
  spec: {
    group: 'bad.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { n: { type: 'integer' }, any: { 'x-kubernetes-preserve-unknown-fields': true } },
              },
            },
          },
        },
      },
    ],
  },
};

export function toHttp({ method, path, body, type }: BadRequest, target: Target) {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  return {
    method,
    path: path.replaceAll('{{ns}}', NS),
    headers: {
      accept: 'application/json',
      'user-agent': 'bad/1.0',
      ...(target.adminToken === undefined ? {} : { authorization: `Bearer ${target.adminToken}` }),
      ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
      ...(bytes === undefined || type === undefined ? {} : { 'content-type': type }),
    },
    ...(bytes === undefined ? {} : { body: bytes }),
  };
}
