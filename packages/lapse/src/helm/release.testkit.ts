// For tests: releases as Helm stores them, and invalid ones.

import { encodeBase64, gzip, utf8 } from '@lapse/base/codec';
import type { KubeObject } from '@lapse/kube/api/object';
import { ownershipOf } from './ownership.ts';
import { type Driver, openStored, type Revision, readStored, SECRET_TYPE } from './storage.ts';

export interface ReleaseFixture {
  readonly name?: string;
  readonly namespace?: string;
  readonly revision?: number;
  readonly status?: string;
  readonly lastDeployed?: string;
  readonly manifest?: string;
  readonly hooks?: readonly object[];
}

export const releaseJson = (given: ReleaseFixture = {}): object => ({
  name: given.name ?? 'shop',
  namespace: given.namespace ?? 'default',
  version: given.revision ?? 1,
  info: {
    first_deployed: '2026-01-01T00:00:00Z',
    last_deployed: given.lastDeployed ?? '2026-01-01T00:00:00Z',
    deleted: '',
    description: 'Install complete',
    status: given.status ?? 'deployed',
  },
  chart: {
    metadata: { name: 'shop', version: '0.1.0', apiVersion: 'v2' },
    values: { replicas: 2 },
  },
  config: {},
  manifest: given.manifest ?? '',
  hooks: given.hooks ?? [],
});

export type Packing = 'gzip' | 'plain';

export const payloadOf = (json: object, packing: Packing = 'gzip'): string => {
  const bytes = utf8(JSON.stringify(json));
  return encodeBase64(packing === 'gzip' ? gzip(bytes) : bytes);
};

/** The Secret or ConfigMap of one revision. */
export function storedRelease(
  given: ReleaseFixture = {},
  driver: Driver = 'secret',
  packing: Packing = 'gzip',
): KubeObject {
  const { name = 'shop', namespace = 'default', revision = 1, status = 'deployed' } = given;
  const payload = payloadOf(releaseJson(given), packing);
  return {
    apiVersion: 'v1',
    kind: driver === 'secret' ? 'Secret' : 'ConfigMap',
    metadata: {
      name: `sh.helm.release.v1.${name}.v${revision}`,
      namespace,
      labels: { name, owner: 'helm', status, version: String(revision), createdAt: '1767225600' },
    },
    ...(driver === 'secret' ? { type: SECRET_TYPE } : {}),
    data: { release: driver === 'secret' ? encodeBase64(utf8(payload)) : payload },
  };
}

/** The same, read back. */
export function revision(given: ReleaseFixture = {}, driver: Driver = 'secret'): Revision {
  const { name = 'shop', namespace = 'default', revision: number = 1 } = given;
  const object = storedRelease(given, driver);
  const stored = readStored(
    { ...object, metadata: { ...object.metadata, uid: `uid-${number}` } },
    driver,
    name,
  );
  if (stored === undefined) throw new Error('the fixture is not a release');
  return openStored(stored, { name, namespace });
}

/** An object of a release, as Helm installs it. */
export const installed = (
  object: KubeObject,
  release = { name: 'shop', namespace: 'default' },
): KubeObject => {
  const { labels, annotations } = ownershipOf(release);
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, ...labels },
      annotations: { ...object.metadata.annotations, ...annotations },
    },
  };
};

export const document = (kind: string, name: string, more = ''): string =>
  `---\n# Source: shop/templates/${kind}.yaml\napiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`;
