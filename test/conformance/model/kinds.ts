// The two kinds that the model runs with: a built-in one and a custom one, which differ in a few rules.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Target } from '../replay/types.ts';
import { type Ask, asker } from './ask.ts';
import type { KindRules } from './predict.ts';
import type { Content, Item, Tier } from './world.ts';

export interface Kind extends KindRules {
  readonly apiVersion: string;
  readonly kind: string;
  /** `/api/v1`, `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly plural: string;
  /** Field and type of the payload. */
  readonly write: (payload: number) => JsonObject;
  readonly read: (object: JsonObject) => number;
  readonly pointer: string;
  readonly pointerValue: (payload: number) => Json;
}

export const configMaps: Kind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  root: '/api/v1',
  plural: 'configmaps',
  overwritesBlindly: true,
  strategic: true,
  write: (payload) => ({ data: { n: String(payload) } }),
  read: (object) => Number(isObject(object.data) ? object.data.n : Number.NaN),
  pointer: '/data/n',
  pointerValue: String,
};

const GROUP = 'model.example.com';

export const widgets: Kind = {
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  root: `/apis/${GROUP}/v1`,
  plural: 'widgets',
  overwritesBlindly: false,
  strategic: false,
  write: (payload) => ({ spec: { n: payload } }),
  read: (object) => Number(isObject(object.spec) ? object.spec.n : Number.NaN),
  pointer: '/spec/n',
  pointerValue: (payload) => payload,
};

const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { n: { type: 'integer' } } } },
};

/** Creates the CRD of widgets. */
export async function defineWidgets(target: Target): Promise<void> {
  const ask: Ask = asker(target);
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await ask('POST', definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  for (let tries = 0; tries < 200; tries++) {
    if ((await ask('GET', `${widgets.root}/widgets`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the definition of widgets was never established');
}

/** The object to send; `extra` goes into its metadata. */
export const toObject = (kind: Kind, name: string, content: Content, extra: JsonObject = {}): JsonObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: {
    name,
    ...(content.tier === undefined ? {} : { labels: { tier: content.tier } }),
    ...(content.finalizers.length === 0 ? {} : { finalizers: [...content.finalizers] }),
    ...extra,
  },
  ...kind.write(content.payload),
});

export function toItem(kind: Kind, object: JsonObject): Item {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const labels = isObject(metadata.labels) ? metadata.labels : {};
  return {
    name: String(metadata.name),
    uid: String(metadata.uid),
    rv: String(metadata.resourceVersion),
    terminating: metadata.deletionTimestamp !== undefined,
    tier: labels.tier as Tier | undefined,
    payload: kind.read(object),
    finalizers: (metadata.finalizers as string[] | undefined) ?? [],
  };
}
