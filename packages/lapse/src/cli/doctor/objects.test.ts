import { hours, plus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VIRTUAL_START, VirtualClock } from '@lapse/base/virtualClock';
import type { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { readManifests } from '@lapse/simulation/userClient';
import { expect, test } from 'vitest';
import type { Cleaner } from '#api/cleaner';
import { AUTHOR_ANNOTATION, AuthorSeal } from '#authors/authorSeal';
import { signedOf } from '#controllers/cleaner/rights';
import { look } from './doctor.testkit.ts';

const rules = (some: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: some }
rules:
  - { apiGroups: [lapse.dev, cleaner.vtex.dev], resources: ["*"], verbs: [list] }
${some}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: some }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: some }
subjects: [{ kind: User, apiGroup: rbac.authorization.k8s.io, name: lapse }]
---
`;

const CLEANER = `
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: shop, namespace: team }
spec:
  ttl: 1h
  targets: [{ name: a, reference: { kind: configmap, name: a }, delete: true }]
---
`;
const KEY = `
apiVersion: v1
kind: Secret
metadata: { name: lapse-author-key, namespace: lapse-system }
data: { key: ${Buffer.alloc(32, 7).toString('base64')} }
---
`;
const POLICY = `
apiVersion: lapse.dev/v1alpha1
kind: ClusterTTLPolicy
metadata: { name: pods }
spec: { target: { apiVersion: v1, kind: Pod }, ttl: 1h, from: Created, mode: Enforce }
---
`;

const given = (objects: string) => ({ rbac: true, controllers: 'cleaner,ttl-policy', objects });

test('names the rights that Lapse lacks for a Cleaner and for a policy, with the ClusterRole to create', async () => {
  const { findings, asked } = await look(given(rules('') + CLEANER + POLICY));
  const problems = findings.filter(({ check, level }) => check === 'objects' && level === 'problem');
  const label = 'create a ClusterRole labelled lapse.dev/aggregate-to-cleaner: "true" with the rules';
  expect(problems.map(({ about, message, hint }) => [about, message, hint])).toEqual([
    [
      'ClusterTTLPolicy pods',
      'Lapse may not list pods, watch pods, delete pods',
      `${label} [{apiGroups: [""], resources: [pods], verbs: [list, watch, delete]}]`,
    ],
    [
      'Cleaner team/shop',
      'Lapse may not get configmaps a in namespace team, delete configmaps a in namespace team',
      `${label} [{apiGroups: [""], resources: [configmaps], verbs: [get, delete]}]`,
    ],
  ]);
  expect([...asked].sort()).toEqual(['GET', 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews']);
});

test('warns about Cleaners and policies without a verified author, and how to become the author', async () => {
  const all = '  - { apiGroups: [""], resources: [configmaps, pods], verbs: ["*"] }';
  const { said } = await look(given(rules(all) + CLEANER + POLICY));
  const unknown =
    'author unknown: the spec was written without the Lapse webhook; to become its author, run:';
  expect(said('objects')).toEqual([
    'ok ttlpolicies.lapse.dev: 0 checked',
    `warning ClusterTTLPolicy pods: ${unknown} kubectl annotate clusterttlpolicy pods lapse.dev/author=claim --overwrite`,
    `warning Cleaner team/shop: ${unknown} kubectl annotate -n team cleaner shop lapse.dev/author=claim --overwrite`,
  ]);
});

test('reports that an author cannot be verified when the Secret with the author key may not be read', async () => {
  const signed = JSON.stringify(JSON.stringify({ username: 'jane', groups: [], seal: 'x' }));
  const annotated = CLEANER.replace(
    'namespace: team',
    `namespace: team, annotations: { lapse.dev/author: ${signed} }`,
  );
  const all = '  - { apiGroups: [""], resources: [configmaps], verbs: ["*"] }';
  const { said } = await look(given(rules(all) + annotated));
  expect(said('objects').at(-1)).toMatch(
    /^note Cleaner team\/shop: its author cannot be verified: .*secrets/,
  );
});

test('reports that the signature of an author expired', async () => {
  const issuedAt = plus(VIRTUAL_START, hours(-31 * 24));
  const [secret, cleaner] = readManifests(KEY + CLEANER) as [Secret, Cleaner];
  const seal = new AuthorSeal({
    client: { get: async () => secret } as unknown as Client,
    random: seededRandom(1),
    clock: new VirtualClock(),
    secret: { namespace: 'lapse-system', name: 'lapse-author-key' },
    now: () => issuedAt,
  });
  const objectUid = '00000000-0000-4000-8000-000000000001';
  const author = await seal.seal({ username: 'jane' }, signedOf(cleaner), { objectUid });
  const metadata = { ...cleaner.metadata, uid: objectUid, annotations: { [AUTHOR_ANNOTATION]: author } };
  const { said } = await look({ controllers: 'cleaner', objects: [secret, { ...cleaner, metadata }] });
  expect(said('objects')).toEqual([
    expect.stringMatching(/^warning Cleaner team\/shop: the signature of its author jane expired at .*claim/),
  ]);
});
