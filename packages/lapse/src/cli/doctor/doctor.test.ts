import { formatTime, minutes } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import { TransportError } from '@lapse/kube/client/transport';
import { DECKHOUSE_SNAPSHOT_KINDS, STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { describe, expect, test } from 'vitest';
import { documentText } from '../documents.ts';
import { look } from './doctor.testkit.ts';
import type { Finding } from './finding.ts';
import { exitCodeOf, reportDocument, reportText } from './report.ts';

test('a healthy cluster has no problems, and the examination changes nothing', async () => {
  const { findings, asked, said, client } = await look({ controllers: 'ttl-after-finished,ttl-policy' });
  expect([...asked].sort()).toEqual(['GET', 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews']);
  expect(findings.filter(({ level }) => level === 'problem' || level === 'warning')).toEqual([]);
  expect(said('server')).toEqual([expect.stringMatching(/^ok v1\.\d+/)]);
  expect(said('clock')).toEqual(['ok this machine: in sync with the API server']);
  expect(said('rights')).toContain('ok ttl-after-finished: all 4 rights');
  expect(said('kinds')).toContain('ok ttlpolicies.lapse.dev: v1alpha1, of this version of Lapse');
  const gone = client.delete(
    { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true },
    { namespace: 'a', name: 'b' },
  );
  await expect(gone).rejects.toThrow(/was not sent/);
});

const role = (kind: string, where: string, rules: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata: { name: some${where} }
rules: ${rules}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
metadata: { name: some${where} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ${kind}, name: some }
subjects: [{ kind: User, apiGroup: rbac.authorization.k8s.io, name: lapse }]
---
`;

test('missing rights are reported per controller, with the namespaces in which they are granted', async () => {
  const everywhere = `
  - { apiGroups: [batch], resources: [jobs], verbs: [list, watch] }
  - { apiGroups: [""], resources: [namespaces], verbs: [list] }
  - { apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch] }`;
  const { said, findings } = await look({
    rbac: true,
    objects: `${role('ClusterRole', '', everywhere)}${role('Role', ', namespace: team', '\n  - { apiGroups: [batch], resources: [jobs], verbs: [delete] }')}
apiVersion: v1
kind: Namespace
metadata: { name: team }
`,
  });
  expect(said('rights')).toEqual([
    'ok events: all 2 rights',
    'problem leader election: missing: create leases.coordination.k8s.io in default, get leases.coordination.k8s.io in default, update leases.coordination.k8s.io in default',
    expect.stringMatching(
      /^problem ttl-after-finished: missing: delete jobs\.batch \(only in team\), get jobs\.batch$/,
    ),
  ]);
  // Kinds that may not be read are a note, not a problem.
  expect(said('others').filter((line) => line.startsWith('note'))).toEqual([
    expect.stringMatching(/kube-controller-manager: is not visible/),
    expect.stringMatching(/leases: may not be listed/),
    expect.stringMatching(/deployments: may not be listed/),
  ]);
  expect(said('webhook').every((line) => line.startsWith('note'))).toBe(true);
  expect(exitCodeOf({ cluster: '', server: '', findings })).toBe(1);
});

test('CRDs that are missing, foreign, or of another version of Lapse are reported', async () => {
  const { said } = await look({
    controllers: 'cleaner,ttl-policy',
    kinds: ([cleaners, policies, _missing]) => {
      const old = structuredClone(policies!);
      const { versions } = old.spec as {
        versions: { schema: { openAPIV3Schema: { description: string } } }[];
      };
      versions[0]!.schema.openAPIV3Schema.description = 'as it was';
      const foreign = { name: cleaners!.metadata.name!, labels: { heritage: 'vtex' } };
      return [{ ...cleaners!, metadata: foreign }, old];
    },
  });
  expect(said('kinds')).toEqual([
    expect.stringMatching(/^warning cleaners.cleaner.vtex.dev: is a CRD of another owner \(vtex\)/),
    expect.stringMatching(/^warning clusterttlpolicies.lapse.dev: is of another version of lapse/),
    'problem ttlpolicies.lapse.dev: does not exist',
  ]);
});

describe('other controllers', () => {
  const lease = (namespace: string, name: string, renewed: string) => `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: { name: ${name}, namespace: ${namespace} }
spec: { holderIdentity: pod-1, leaseDurationSeconds: 15, renewTime: "${renewed}" }
---`;
  const now = formatTime(new VirtualClock().now()).replace('Z', '.000000Z');
  const manager = (flags: string) => `
apiVersion: v1
kind: Pod
metadata: { name: kube-controller-manager-a, namespace: kube-system, labels: { component: kube-controller-manager } }
spec: { containers: [{ name: a, image: a, command: [kube-controller-manager, "${flags}"] }] }
---`;
  const deployment = (image: string, replicas = 1) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: janitor, namespace: ops }
spec: { replicas: ${replicas}, selector: { matchLabels: { a: a } }, template: { metadata: { labels: { a: a } }, spec: { containers: [{ name: a, image: "${image}" }] } } }
---`;
  test('the TTL controller of Kubernetes, another Lapse and another cleaner are reported', async () => {
    const { said } = await look({
      objects:
        manager('--controllers=*') + lease('other', 'lapse', now) + deployment('hjacobs/kube-janitor:23'),
    });
    expect(said('others')).toEqual([
      expect.stringMatching(/^warning kube-controller-manager: its TTL controller also acts/),
      expect.stringMatching(
        /^warning lease other\/lapse: is held by pod-1: another instance of Lapse is the leader/,
      ),
      expect.stringMatching(/^warning deployment ops\/janitor: kube-janitor acts on/),
    ]);
  });

  test('a disabled TTL controller, the own lease, and a cleaner with zero replicas are not reported', async () => {
    const { said } = await look({
      objects:
        manager('--controllers=*,-ttl-after-finished-controller') +
        lease('default', 'lapse', now) +
        deployment('hjacobs/kube-janitor:23', 0),
    });
    expect(said('others')).toEqual([
      'ok kube-controller-manager: does not delete finished Jobs',
      expect.stringMatching(/^note lease default\/lapse: is held by pod-1: .* a standby/),
      'ok deployments: no other known cleanup controller runs',
    ]);
  });

  test('unknown flags of kube-controller-manager are a warning, and an expired lease is ignored', async () => {
    const { said } = await look({
      objects:
        lease('kube-system', 'kube-controller-manager', now) +
        lease('other', 'lapse', '2025-01-01T00:00:00.000000Z'),
    });
    expect(said('others').slice(0, 2)).toEqual([
      expect.stringMatching(/^warning kube-controller-manager: its flags are not visible/),
      'ok leases: no other instance of Lapse is the leader',
    ]);
  });
});

test('too much clock skew and a missing snapshot stack are reported', async () => {
  const { said } = await look({ skew: minutes(-5), controllers: 'volume-capture' });
  expect(said('clock')).toEqual([
    expect.stringMatching(
      /^problem this machine: [\dm.s]+ ahead of the API server; nothing is deleted if the difference exceeds 30s$/,
    ),
  ]);
  expect(said('storage')).toEqual([
    expect.stringMatching(
      /^problem volumesnapshotcontents.snapshot.storage.k8s.io: v1 is not served; volume-capture/,
    ),
    expect.stringMatching(/^problem volumesnapshotclasses/),
    'ok mode Detach: needs a volume with the reclaim policy Retain',
  ]);
});

describe('the storage stack', () => {
  const classOf = (name: string, driver: string) =>
    `\napiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshotClass\nmetadata: { name: ${name} }\ndriver: ${driver}\ndeletionPolicy: Delete\n---`;
  const DRIVER = 'apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: { name: d }\nspec: {}\n---';
  const storage = async (snapshotKinds: readonly CustomKind[], objects: string, more: object = {}) => {
    const { said } = await look({
      ...more,
      controllers: 'volume-capture,volume-restore',
      kinds: (crds) => [...snapshotKinds.map(({ crd }) => crd), ...crds],
      objects,
    });
    return said('storage');
  };
  const rest = [
    'ok mode Detach: needs a volume with the reclaim policy Retain',
    'ok restores: Lapse restores, unless restore.executor is External',
  ];
  test('names the form of contents and the classes with an installed driver', async () => {
    expect(await storage(STOCK_SNAPSHOT_KINDS, DRIVER + classOf('good', 'd') + classOf('bad', 'x'))).toEqual([
      'ok mode Snapshot: contents refer to a VolumeSnapshot, as the CRD requires; classes: good',
      'warning volumesnapshotclass/bad: its driver x is not installed: no CSIDriver has that name',
      ...rest,
    ]);
  });
  test('recognizes CRDs that accept contents without a VolumeSnapshot', async () => {
    expect((await storage(DECKHOUSE_SNAPSHOT_KINDS, DRIVER + classOf('good', 'd')))[0]).toBe(
      'ok mode Snapshot: the CRD accepts contents without a VolumeSnapshot; classes: good',
    );
  });
  test('names what captures create with snapshot.via', async () => {
    const configuration =
      'apiVersion: lapse.dev/v1alpha1\nkind: LapseConfiguration\nsnapshot: { via: VolumeSnapshot }\n';
    const via = { configuration };
    expect((await storage(STOCK_SNAPSHOT_KINDS, DRIVER + classOf('good', 'd'), via))[0]).toBe(
      'ok mode Snapshot: captures create VolumeSnapshots; classes: good',
    );
  });
  test('reports a cluster without classes', async () => {
    expect(await storage(STOCK_SNAPSHOT_KINDS, DRIVER)).toEqual([
      'warning mode Snapshot: no VolumeSnapshotClass: no volume can be captured',
      ...rest,
    ]);
  });
});

test('the backends of webhooks are checked', async () => {
  const hook = (name: string, client: string) =>
    `\n- { name: ${name}, sideEffects: None, admissionReviewVersions: [v1], clientConfig: { ${client} } }`;
  const service = (name: string) => `service: { namespace: sys, name: ${name} }`;
  const slice = (name: string, ready: boolean) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, namespace: sys, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.1], conditions: { ready: ${ready} } }]
---`;
  const { said } = await look({
    objects: `${slice('up', true)}${slice('down', false)}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: lapse }
webhooks:${hook('up', `${service('up')}, caBundle: YQ==`)}${hook('down', `${service('down')}, caBundle: YQ==`)}${hook(
      'nobody',
      `${service('nobody')}, caBundle: YQ==`,
    )}${hook('bare', service('up'))}${hook('far', 'url: "https://example.test/review/secret/far"')}
`,
  });
  expect(said('webhook')).toEqual([
    'ok lapse: up: 1 ready behind sys/up',
    expect.stringMatching(
      /^problem lapse: down: the service sys\/down has no ready endpoint; until then the API server refuses the writes that it reviews$/,
    ),
    expect.stringMatching(/^problem lapse: nobody: the service sys\/nobody has no ready endpoint/),
    expect.stringMatching(/^problem lapse: bare: has no caBundle/),
    'note lapse: far: calls https://example.test: not checked',
  ]);
});

test('without a connection there is a single finding', async () => {
  const fail = async () => {
    throw new TransportError('unreachable', 'connect ECONNREFUSED 127.0.0.1:1', { sent: false });
  };
  const { findings } = await look({ transport: { request: fail, stream: fail } });
  expect(findings).toEqual([
    {
      check: 'server',
      level: 'problem',
      about: 'connection',
      message: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringContaining('--kubeconfig'),
    },
  ]);
});

test('the report has a text and a structured form', () => {
  const findings: Finding[] = [
    { check: 'server', level: 'ok', about: 'v1.36.3', message: 'reached' },
    { check: 'rights', level: 'problem', about: 'cleaner', message: 'missing: get secrets', hint: 'do this' },
    { check: 'rights', level: 'warning', about: 'x', message: 'y' },
  ];
  const report = { cluster: 'kind', server: 'https://a', findings };
  expect(reportText(report, (_, text) => text)).toBe(
    [
      'kind (https://a)',
      '',
      'server',
      '  ok       v1.36.3: reached',
      '',
      'rights',
      '  PROBLEM  cleaner: missing: get secrets',
      '           do this',
      '  WARNING  x: y',
      '',
      '1 problem, 1 warning',
      '',
    ].join('\n'),
  );
  expect(reportDocument(report)).toMatchObject({ problems: 1, warnings: 1, findings });
  expect(exitCodeOf(report)).toBe(1);
  expect(exitCodeOf({ ...report, findings: findings.filter(({ level }) => level !== 'problem') })).toBe(0);
});

test('documents are JSON, or YAML without anchors', () => {
  const shared = { a: 'x: y' };
  const document = { one: shared, two: shared };
  expect(JSON.parse(documentText(document, 'json'))).toEqual(document);
  expect(documentText(document, 'yaml')).toBe('one:\n  a: "x: y"\ntwo:\n  a: "x: y"\n');
});
