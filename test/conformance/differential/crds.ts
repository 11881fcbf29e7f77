// Random CustomResourceDefinitions, and subjects for the objects they define.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { Picker } from '../apply/histories.ts';
import { malform } from './malformed.ts';
import { fitting, nudge, object } from './schemas.ts';
import { builtinSubject } from './subjects.ts';
import type { Subject } from './types.ts';

const KINDS_OF_COLUMNS = ['string', 'integer', 'number', 'boolean', 'date'];

export interface RandomDefinition {
  readonly definition: JsonObject;
  readonly subject: Subject;
}

/** Deterministic for a seed. `group` keeps the CRDs of one run apart. */
export function randomDefinition(seed: number, group: string): RandomDefinition {
  const pick = new Picker(seed);
  const spec = object(pick, 1);
  const status = object(pick, 2);
  const hasStatus = pick.chance(0.7);
  const hasScale = pick.chance(0.35);
  const cluster = pick.chance(0.2);
  const replicas = {
    type: 'integer',
    ...pick.maybe({ minimum: () => 0, maximum: () => 5, default: () => 1 }, 0.3),
  };
  const schema: JsonObject = {
    type: 'object',
    properties: {
      spec: withProperty(spec, 'replicas', hasScale ? replicas : undefined),
      status: withProperty(status, 'replicas', hasScale ? { type: 'integer' } : undefined),
    },
    ...(pick.chance(0.1) ? { required: ['spec'] } : {}),
  };
  const leaves = leavesOf(spec, '.spec');
  const version: JsonObject = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: subresources(hasStatus, hasScale),
    ...(pick.chance(0.4) ? { additionalPrinterColumns: columns(leaves, pick) } : {}),
    ...(pick.chance(0.3) && leaves.length > 0
      ? { selectableFields: [{ jsonPath: pick.one(leaves).path }] }
      : {}),
  };
  const versions: JsonObject[] = [version];
  if (pick.chance(0.2))
    versions.push({
      ...(clone(version) as JsonObject),
      name: 'v1beta1',
      storage: false,
      ...pick.maybe({ deprecated: () => true }, 0.5),
    });
  const definition: JsonObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `randoms.${group}` },
    spec: {
      group,
      scope: cluster ? 'Cluster' : 'Namespaced',
      names: {
        plural: 'randoms',
        singular: 'random',
        kind: 'Random',
        listKind: 'RandomList',
        ...pick.maybe({ shortNames: () => ['rd'], categories: () => ['all'] }, 0.2),
      },
      versions,
    },
  };
  return { definition, subject: customSubject({ group, seed, cluster, schema, version }) };
}

function withProperty(schema: JsonObject, name: string, property: JsonObject | undefined): JsonObject {
  if (property === undefined) return schema;
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), [name]: property } };
}

function subresources(hasStatus: boolean, hasScale: boolean): JsonObject {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return { ...(hasStatus ? { status: {} } : {}), ...(hasScale ? { scale } : {}) };
}

interface Leaf {
  readonly path: string;
  readonly type: string;
}

function leavesOf(schema: JsonObject, at: string): Leaf[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([name, inner]) => {
    if (!isObject(inner)) return [];
    const path = `${at}.${name}`;
    if (inner['type'] === 'object') return leavesOf(inner, path);
    return typeof inner['type'] === 'string' && inner['type'] !== 'array' && inner['type'] !== 'number'
      ? [{ path, type: inner['type'] }]
      : [];
  });
}

const columns = (leaves: readonly Leaf[], pick: Picker): Json =>
  [...leaves.slice(0, 3), { path: '.metadata.creationTimestamp', type: 'date' }].map(({ path, type }, i) => ({
    name: `Column${i}`,
    type: pick.chance(0.9) ? type : pick.one(KINDS_OF_COLUMNS),
    jsonPath: path,
    ...pick.maybe({ priority: () => 1, description: () => 'a column' }, 0.2),
  }));

interface Parts {
  readonly group: string;
  readonly seed: number;
  readonly cluster: boolean;
  readonly schema: JsonObject;
  readonly version: JsonObject;
}

function customSubject({ group, seed, cluster, schema, version }: Parts): Subject {
  const properties = schema['properties'] as JsonObject;
  const edit = (field: string) => (target: JsonObject, pick: Picker) => {
    if (pick.chance(0.15)) return malform(target, pick, field);
    if (!isObject(target[field])) target[field] = {};
    nudge(target, field, properties[field] as JsonObject, pick);
  };
  const selectable = (version['selectableFields'] ?? []) as { jsonPath: string }[];
  return {
    name: `Random #${seed} ${group}`,
    apiVersion: `${group}/v1`,
    kind: 'Random',
    collection: `/apis/${group}/v1/${cluster ? '' : 'namespaces/{ns}/'}randoms`,
    cluster,
    custom: true,
    onlyDry: false,
    rewritten: false,
    subresources: Object.keys(version['subresources'] as JsonObject),
    selectable: ['metadata.name', ...selectable.map(({ jsonPath }) => jsonPath.slice(1))],
    base: () => ({ spec: fitting(properties['spec'] as JsonObject, new Picker(seed + 1)) }),
    edit: edit('spec'),
    editStatus: edit('status'),
  };
}

const KIND = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  cluster: true,
  status: true,
} as const;

/** A CRD that exists on both servers, to be changed in dry runs. */
export function definitionSubject({ definition }: RandomDefinition): Subject {
  const { spec, metadata } = definition as { spec: JsonObject; metadata: { name: string } };
  return {
    ...builtinSubject({ ...KIND, base: { spec } }),
    name: `definition of ${metadata.name}`,
    existing: metadata.name,
    onlyDry: true,
  };
}
