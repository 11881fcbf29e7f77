// The resources of a CRD: one per served version, sharing storage, schemas and strategy.

import { createHash } from 'node:crypto';
import { internal } from '@lapse/kube/api/errors';
import type { JsonObject } from '@lapse/kube/api/json';
import { fieldElement } from '#schema/apply/pathElement';
import type { ReplicasPaths } from '#schema/apply/scaleManagers';
import { compareApiVersions } from '../resources/registry.ts';
import { type Resource, type SubresourceInfo, storageName } from '../resources/resource.ts';
import { customCodec, type Versions } from './codec.ts';
import { type Crd, storageVersion, textAt, type Version } from './crd.ts';
import { customStrategy } from './customStrategy.ts';
import { splitPath } from './paths.ts';
import { customPrinter, scalePrinter } from './printer.ts';
import { ruleEngine } from './rules.ts';
import { selectableFields } from './selectableFields.ts';
import { compileStructure, type Structure } from './structure.ts';
import { hoist } from './validate/hoist.ts';

/** State that changes while the CRD itself does not. */
export interface ServiceState {
  terminating: boolean;
  /** Objects written after this revision conform to the current schemas. */
  readonly since: number;
  /** The currently served resources of the CRD. */
  readonly current: () => Served;
}

export interface Served {
  readonly resources: readonly Resource[];
  readonly versions: Versions;
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
/** The verbs in discovery for a resource with a terminating CRD. */
const LAST_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch'];

export function serve(crd: Crd, state: ServiceState): Served {
  const versions = schemasOf(crd, state);
  const resources = crd.spec.versions.filter((v) => v.served).map((v) => resourceOf(crd, v, versions, state));
  return { resources, versions };
}

/** The same resources as discovery shows them in this state. */
export const inState = (served: Served, { terminating }: ServiceState): Served => ({
  ...served,
  resources: served.resources.map((r) => ({ ...r, verbs: terminating ? LAST_VERBS : VERBS })),
});

function schemasOf(crd: Crd, state: ServiceState): Versions {
  const { spec, acceptedNames } = crd;
  const compiled = new Map<string, Structure>();
  return {
    group: spec.group,
    kind: acceptedNames.kind,
    storageVersion: storageVersion(spec)?.name ?? '',
    uniform: hoist(spec).versions.every((v) => v.schema === undefined),
    since: state.since,
    current: () => state.current().versions,
    // Compiled with the first object, so that a server with hundreds of CRDs starts fast.
    structure(name) {
      const version = spec.versions.find((v) => v.name === name);
      if (!version) return undefined;
      let structure = compiled.get(name);
      if (!structure) {
        structure = compileStructure(version.schema?.openAPIV3Schema, spec.preserveUnknownFields);
        compiled.set(name, structure);
      }
      return structure;
    },
  };
}

function resourceOf(crd: Crd, version: Version, versions: Versions, state: ServiceState): Resource {
  const { spec, acceptedNames: names } = crd;
  const fields = selectableFields(version.selectableFields);
  const schema: JsonObject | undefined = version.schema?.openAPIV3Schema;
  const refusal = unconvertible(crd, version);
  const scale = version.subresources?.scale;
  return {
    group: spec.group,
    version: version.name,
    plural: names.plural,
    singular: names.singular,
    kind: names.kind,
    listKind: names.listKind,
    namespaced: spec.scope === 'Namespaced',
    shortNames: names.shortNames,
    categories: names.categories,
    verbs: state.terminating ? LAST_VERBS : VERBS,
    storageVersionHash: storageVersionHash(crd),
    subresources: subresourcesOf(crd, version),
    storage: storageName(spec.group, names.plural),
    custom: true,
    codec: customCodec(versions, version.name),
    strategy: customStrategy({
      group: spec.group,
      version: version.name,
      kind: names.kind,
      plural: names.plural,
      subresources: version.subresources,
      structure: () => versions.structure(version.name)!,
      rules: once(() => (schema ? ruleEngine.compile(schema) : undefined)),
      isTerminating: () => state.terminating,
    }),
    fieldLabels: fields.labels,
    fields: fields.values,
    printer: customPrinter(version.columns),
    warnings: deprecationOf(crd, version),
    ...(scale ? { scale: { fields: scale, replicas: replicasOf(crd), printer: scalePrinter() } } : {}),
    ...(schema ? { schema } : {}),
    ...(refusal ? { unservable: () => internal(refusal) } : {}),
  };
}

const replicasOf = ({ spec }: Crd): ReplicasPaths =>
  new Map(
    spec.versions.map(({ name, subresources }) => [
      `${spec.group}/${name}`,
      subresources?.scale && splitPath(subresources.scale.specReplicasPath).map(fieldElement),
    ]),
  );

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

const WRITABLE = ['get', 'patch', 'update'];

function subresourcesOf({ acceptedNames }: Crd, { subresources }: Version): SubresourceInfo[] {
  const infos: SubresourceInfo[] = [];
  if (subresources?.status) infos.push({ name: 'status', kind: acceptedNames.kind, verbs: WRITABLE });
  if (subresources?.scale) {
    infos.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: WRITABLE });
  }
  return infos;
}

/** Changes with the storage version; the first bytes of a hash. Empty while the CRD is not served. */
function storageVersionHash({ spec }: Crd): string {
  const stored = storageVersion(spec);
  if (!stored?.served) return '';
  const text = `${spec.group}/${stored.name}/${spec.names.kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

/** The warning of a deprecated version, with the best version to use instead. */
function deprecationOf({ spec }: Crd, version: Version): string[] {
  if (!version.deprecated) return [];
  if (version.deprecationWarning !== undefined) return [version.deprecationWarning];
  const text = `${spec.group}/${version.name} ${spec.names.kind} is deprecated`;
  const better = spec.versions
    .filter((v) => v.served && !v.deprecated && compareApiVersions(v.name, version.name) < 0)
    .map((v) => v.name)
    .sort(compareApiVersions)[0];
  return [better ? `${text}; use ${spec.group}/${better} ${spec.names.kind}` : text];
}

/** Without conversion webhooks, only the storage version of such a CRD can be served. */
function unconvertible({ spec, acceptedNames }: Crd, version: Version): string | undefined {
  if (textAt(spec.conversion ?? {}, 'strategy') !== 'Webhook' || version.storage) return undefined;
  const kind = `${spec.group}/${storageVersion(spec)?.name}, Kind=${acceptedNames.kind}`;
  return `conversion webhook for ${kind} failed: this server does not call conversion webhooks`;
}
