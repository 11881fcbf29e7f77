// A read-only cluster with some objects, read as from a server. Much cheaper than a server, and able to refuse reads.

import { isObject, type Json } from '@lapse/kube/api/json';
import { defineKind, type Kind, type ObjectKey } from '@lapse/kube/api/kind';
import {
  ConfigMap,
  CustomResourceDefinition,
  Job,
  Namespace,
  Node,
  Pod,
  Secret,
} from '@lapse/kube/api/kinds/builtin';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import {
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '@lapse/kube/api/selectors';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Unreadable } from 'lapse/controllers/forecaster';
import { FAMILIES } from 'lapse/controllers/registry';
import type { Read } from 'lapse/forecast/snapshot';
import { kindsOf } from 'lapse/manager/crds';
import { parseAllDocuments } from 'yaml';

const PipelineRun = defineKind({
  group: 'tekton.dev',
  version: 'v1',
  kind: 'PipelineRun',
  resource: 'pipelineruns',
  namespaced: true,
});
const define = (group: string, kind: string, resource: string) =>
  defineKind({ group, version: 'v1', kind, resource, namespaced: true }) as Kind;
/** Two kinds of one name, and kinds that admission refuses. */
const MORE = [
  define('', 'Service', 'services'),
  define('serving.knative.dev', 'Service', 'services'),
  define('', 'Event', 'events'),
  define('coordination.k8s.io', 'Lease', 'leases'),
];
const Release = { ...PipelineRun, group: 'shop.example.com', kind: 'Preview', resource: 'previews' };
/** Kinds that are neither built in nor part of a Lapse family. */
export const CUSTOM = [PipelineRun, Release, MORE[1]!] as readonly Kind[];

const SHORT: Readonly<Record<string, readonly string[]>> = {
  configmaps: ['cm'],
  namespaces: ['ns'],
  pipelineruns: ['pr'],
  previews: ['pr'],
  pods: ['po'],
};

const served = (kind: Kind, shortNames: readonly string[] = SHORT[kind.resource] ?? []): ServedKind => ({
  ...kind,
  verbs: ['get', 'list', 'watch', 'delete', 'create', 'update', 'patch'],
  shortNames,
  categories: [],
  singular: kind.kind.toLowerCase(),
  subresources: [],
});

const BUILTIN = [Namespace, Job, Pod, Node, ConfigMap, Secret, CustomResourceDefinition] as readonly Kind[];
const VOLUMES = [PersistentVolume, PersistentVolumeClaim, VolumeSnapshotContent] as readonly Kind[];

export const SERVED: readonly ServedKind[] = [
  ...[...BUILTIN, ...VOLUMES, ...MORE, PipelineRun, Release].map((kind) => served(kind)),
  ...kindsOf(FAMILIES)
    .filter(({ kind }) => !VOLUMES.some(({ resource }) => resource === kind.resource))
    .map(({ kind, crd }) => served(kind, shortNamesOf(crd))),
];

function shortNamesOf(crd: KubeObject): readonly string[] {
  const { names } = (crd as { spec?: { names?: { shortNames?: string[] } } }).spec ?? {};
  return names?.shortNames ?? [];
}

/** Objects from YAML, with the fields that a server would add. */
export function parseObjects(yaml: string): KubeObject[] {
  const documents = parseAllDocuments(yaml);
  if ('empty' in documents) return [];
  return documents.flatMap((document) => {
    for (const error of document.errors) throw error;
    const json = document.toJS() as Json;
    if (!isObject(json)) throw new Error('not an object');
    const object = json as unknown as KubeObject;
    const { kind, metadata } = object;
    if (kind === 'LapseConfiguration') return [];
    const added = {
      uid: `uid-of-${metadata.name}`,
      generation: 1,
      creationTimestamp: '2026-03-01T10:00:00Z',
    };
    return [{ ...object, kind, metadata: { ...added, ...metadata } }];
  });
}

export interface World {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly read: Read;
  readonly served: readonly ServedKind[];
  /** All reads, as text. */
  readonly reads: string[];
}

/** `forbidden`: resources that may not be read. */
export function makeWorld(objects: readonly KubeObject[], forbidden: readonly string[] = []): World {
  const reads: string[] = [];
  const of = (kind: Kind): KubeObject[] => {
    if (forbidden.includes(kind.resource))
      throw new ApiError(403, 'Forbidden', `${kind.resource} is forbidden: User "dev" cannot read it`);
    return objects.filter((one) => one.kind === kind.kind && one.apiVersion === apiVersionOf(kind));
  };
  const list = (
    kind: Kind,
    options: { namespace?: string; labelSelector?: string; fieldSelector?: string },
  ) => {
    const { namespace, labelSelector, fieldSelector } = options;
    reads.push(
      `list ${kind.resource}${namespace ? ` in ${namespace}` : ''}${fieldSelector ? ` ${fieldSelector}` : ''}`,
    );
    const labels = parseLabelSelector(labelSelector ?? '');
    const fields = parseFieldSelector(fieldSelector ?? '');
    return of(kind).filter(
      (one) =>
        (namespace === undefined || one.metadata.namespace === namespace) &&
        matchesLabels(labels, one.metadata.labels ?? {}) &&
        matchesFields(fields, fieldsOf(one)),
    );
  };
  const get = (kind: Kind, { namespace, name }: ObjectKey) => {
    reads.push(`get ${kind.resource} ${name}`);
    return of(kind).find((one) => one.metadata.name === name && one.metadata.namespace === namespace);
  };
  return {
    reads,
    served: SERVED,
    client: {
      get: async (kind: Kind, key: ObjectKey) => get(kind, key),
      list: async (kind: Kind, options = {}) => ({ items: list(kind, options) }),
    } as unknown as World['client'],
    read: async (source) => {
      try {
        const found = list(source.kind as Kind, source);
        const { projection } = source;
        return (
          projection === undefined ? found : found.map((one) => projection.project(one as never))
        ) as never[];
      } catch (error) {
        throw error instanceof ApiError ? new Unreadable(`${source.kind.resource}: ${error.message}`) : error;
      }
    },
  };
}

const fieldsOf = (object: KubeObject): Record<string, string> => ({
  'metadata.name': object.metadata.name ?? '',
  'status.phase': (object as { status?: { phase?: string } }).status?.phase ?? '',
});
