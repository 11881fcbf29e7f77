import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { AdmissionRequest } from '@lapse/runtime/host/review';
import { describe, expect, test } from 'vitest';
import { type AdmissionOptions, cleanerRules } from './admission.ts';
import { cleaner } from './cleaner.testkit.ts';

const CONFIG_MAPS = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  singular: 'configmap',
  namespaced: true,
  verbs: ['get', 'list', 'watch', 'delete'],
} as unknown as ServedKind;

interface Review extends KubeObject {
  spec: { resourceAttributes: { verb: string; resource: string } };
}

/** Users may do everything. Lapse itself may do only what is listed. */
const clientOf = (lapse: readonly string[]) =>
  ({
    discovery: { all: async () => [CONFIG_MAPS] },
    create: async (kind: Kind, object: Review) => {
      const { verb, resource } = object.spec.resourceAttributes;
      const allowed = kind.resource === 'subjectaccessreviews' || lapse.includes(`${verb} ${resource}`);
      return { kind: 'created', object: { ...object, status: { allowed } } };
    },
  }) as unknown as Client;

const object = cleaner({
  targets: [{ name: 'a', reference: { kind: 'configmap', name: 'a' }, delete: true }],
});
const request = {
  operation: 'CREATE',
  namespace: 'default',
  name: 'c',
  userInfo: { username: 'jane', groups: [] },
  object,
  oldObject: null,
} as unknown as AdmissionRequest;

const warningsOf = async (
  lapse: readonly string[],
  more: Partial<AdmissionOptions> = {},
  asked: AdmissionRequest = request,
) => {
  const options = {
    client: clientOf(lapse),
    actAs: 'controller',
    seal: {},
    impersonation: { kind: 'none' },
    asAuthor: false,
    ...more,
  } as AdmissionOptions;
  const answer = await cleanerRules(options).review(asked);
  expect(answer.allowed).toBe(true);
  return answer.warnings;
};

describe('a warning at admission reports the rights that Lapse itself lacks for a Cleaner', () => {
  test('contains the ClusterRole to create', async () => {
    const [warning, ...more] = (await warningsOf(['get configmaps'])) ?? [];
    expect(more).toEqual([]);
    expect(warning).toContain('Lapse may not delete configmaps a in namespace default');
    expect(warning).toContain('lapse.dev/aggregate-to-cleaner: "true"');
    expect(warning).toContain('{apiGroups: [""], resources: [configmaps], verbs: [delete]}');
  });
  test('is absent where no right is missing', async () => {
    expect(await warningsOf(['get configmaps', 'delete configmaps'])).toEqual([]);
  });
  test('includes the right to mark the record of a release, for one of the two storage kinds', async () => {
    const release = cleaner({ helm: { release: 'shop', delete: true } });
    const asked = { ...request, object: release } as unknown as AdmissionRequest;
    const [warning] = (await warningsOf(['list secrets', 'delete secrets'], {}, asked)) ?? [];
    expect(warning).toContain('Lapse may not patch secrets in namespace default');
    const rights = ['list', 'delete', 'patch'].map((verb) => `${verb} configmaps`);
    expect(await warningsOf(rights, {}, asked)).toEqual([]);
  });
  test('ignores deletes that are sent as the author', async () => {
    expect(await warningsOf([], { asAuthor: true })).toEqual([]);
  });
});
