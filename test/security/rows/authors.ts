// Attacks on authors: to have a spec executed with the rights of another user.

import { hours, parseTime, plus } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { Cleaner } from 'lapse/api/cleaner';
import { TTLPolicy } from 'lapse/api/ttlPolicy';
import { computeProof, type SealedAuthor } from 'lapse/authors/authorSeal';
import { expect, vi } from 'vitest';
import { type Attack, type AttackCluster, type AttackUser, configMap } from '../attack.ts';

const patient = { timeout: 30_000, interval: 100 };
const NAME = 'attack';
const AUTHOR = 'lapse.dev/author';
const LABELS = { attack: 'authors' };
const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** A kind whose objects have authors, and a spec that deletes the ConfigMap `victim` at once. */
interface Authored {
  readonly kind: Kind;
  readonly spec: object;
}
const POLICY: Authored = {
  kind: TTLPolicy as Kind,
  spec: {
    target: { apiVersion: 'v1', kind: 'ConfigMap' },
    selector: { matchLabels: LABELS },
    from: 'Created',
    ttl: '0s',
    mode: 'Enforce',
  },
};
const CLEANER: Authored = {
  kind: Cleaner as Kind,
  spec: {
    ttl: '0s',
    targets: [{ name: 'victim', reference: { kind: 'configmap', name: 'victim' }, delete: true }],
  },
};

const objectIn = (
  namespace: string,
  { kind, spec }: Authored,
  annotations: Record<string, string> = {},
): KubeObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { namespace, name: NAME, annotations },
  spec,
});

const writing = ({ kind: { group, resource } }: Authored) => rule(group, resource, 'create', 'get');
const deleting = rule('', 'configmaps', 'get', 'list', 'watch', 'delete');

const readyIn = async ({ admin }: AttackCluster, namespace: string, { kind }: Authored) => {
  const object = (await admin.get(kind, { namespace, name: NAME })) as
    | (KubeObject & { status?: { conditions?: { reason?: string }[] } })
    | undefined;
  return object?.status?.conditions?.[0]?.reason;
};

const createVictim = ({ admin }: AttackCluster, namespace: string) => {
  const { metadata, ...rest } = configMap(namespace, 'victim');
  return admin.create(ConfigMap, { ...rest, metadata: { ...metadata, labels: LABELS } } as ConfigMap);
};

/** The controller has reported why it does not act, and the ConfigMap exists. */
async function expectKept(
  cluster: AttackCluster,
  namespace: string,
  authored: Authored,
  reason: string,
): Promise<void> {
  await vi.waitFor(async () => expect(await readyIn(cluster, namespace, authored)).toBe(reason), patient);
  expect(await cluster.admin.get(ConfigMap, { namespace, name: 'victim' })).toBeDefined();
}

const openCluster = async (cluster: AttackCluster, name: string): Promise<string> => {
  await cluster.grantLapse([deleting]);
  return cluster.namespace(name);
};

/** Creates an object as a user with the rights it needs, and returns its annotation. */
async function annotationOf(user: Pick<AttackUser, 'client'>, namespace: string, authored: Authored) {
  const made = objectOf(await user.client.create(authored.kind, objectIn(namespace, authored)));
  return made.metadata.annotations?.[AUTHOR] ?? '';
}

/** A user has the right when they write the object, loses it, and waits for a restore. */
const waitForRestore =
  (name: string, authored: Authored, reason: string) =>
  async (cluster: AttackCluster): Promise<void> => {
    const namespace = await openCluster(cluster, name);
    const mallory = await cluster.user(namespace, 'mallory', [writing(authored), deleting]);
    const annotation = await vi.waitFor(() => annotationOf(mallory, namespace, authored), patient);
    await cluster.user(namespace, 'mallory', [writing(authored)]);
    await vi.waitFor(
      () => expect(mallory.client.list(ConfigMap, { namespace })).rejects.toThrow('forbidden'),
      patient,
    );
    await cluster.admin.delete(authored.kind, { namespace, name: NAME });
    await createVictim(cluster, namespace);
    const backup = objectIn(namespace, authored, { [AUTHOR]: annotation });
    await vi.waitFor(async () => objectOf(await cluster.admin.create(authored.kind, backup)), patient);
    await expectKept(cluster, namespace, authored, reason);
  };

/** A backup in which the attacker changed the spec, or that they renamed. */
async function changeBackup(cluster: AttackCluster): Promise<void> {
  const namespace = await openCluster(cluster, 'changed-backup');
  const harmless: Authored = { ...POLICY, spec: { ...POLICY.spec, ttl: '1000h' } };
  const mallory = await cluster.user(namespace, 'mallory', [writing(POLICY), deleting]);
  const annotation = await vi.waitFor(() => annotationOf(mallory, namespace, harmless), patient);
  await cluster.admin.delete(POLICY.kind, { namespace, name: NAME });
  await createVictim(cluster, namespace);
  const changed = objectIn(namespace, POLICY, { [AUTHOR]: annotation });
  const renamed = { ...changed, metadata: { ...changed.metadata, name: 'renamed' }, spec: harmless.spec };
  for (const backup of [changed, renamed])
    await expect(cluster.admin.create(POLICY.kind, backup).then(objectOf)).rejects.toThrow(
      `names ${mallory.username}, who did not sign this spec; remove the annotation, or set it to "claim"`,
    );
  expect(await cluster.admin.get(ConfigMap, { namespace, name: 'victim' })).toBeDefined();
}

/** The administrator wrote a policy, changed and deleted it; the attacker kept a copy with its signature. */
async function replay(cluster: AttackCluster): Promise<void> {
  const namespace = await openCluster(cluster, 'replayed-signature');
  const mallory = await cluster.user(namespace, 'mallory', [writing(POLICY)]);
  const harmless: Authored = { ...POLICY, spec: { ...POLICY.spec, ttl: '1000h' } };
  await annotationOf({ client: cluster.admin }, namespace, harmless);
  const key = { namespace, name: NAME };
  const patch = { type: 'merge', patch: { spec: POLICY.spec } } as const;
  const signed = objectOf(await cluster.admin.patch(POLICY.kind, key, patch));
  await cluster.admin.delete(POLICY.kind, key);
  await createVictim(cluster, namespace);
  const copy = objectIn(namespace, POLICY, { [AUTHOR]: signed.metadata.annotations?.[AUTHOR] ?? '' });
  await expect(mallory.client.create(POLICY.kind, copy).then(objectOf)).rejects.toThrow(
    `${mallory.username} may not list configmaps`,
  );
  await cluster.withoutAdmission(async () => {
    objectOf(await mallory.client.create(POLICY.kind, copy));
  });
  await expectKept(cluster, namespace, POLICY, 'AuthorUnknown');
}

/** A policy with a made-up signature, written while no webhook is registered. */
async function forgeSignature(cluster: AttackCluster): Promise<void> {
  const namespace = await openCluster(cluster, 'forged-signature');
  const mallory = await cluster.user(namespace, 'mallory', [writing(POLICY)]);
  await createVictim(cluster, namespace);
  const forged = JSON.stringify({ username: 'admin', groups: ['system:masters'], seal: 'x'.repeat(44) });
  await cluster.withoutAdmission(async () => {
    objectOf(await mallory.client.create(POLICY.kind, objectIn(namespace, POLICY, { [AUTHOR]: forged })));
  });
  await expectKept(cluster, namespace, POLICY, 'AuthorUnknown');
}

const ISSUED = parseTime('2026-01-01T00:00:00Z');
const sealed = (username: string): SealedAuthor => ({
  subject: { username, groups: ['system:masters'] },
  issuedAt: ISSUED,
});

export const authors: readonly Attack[] = [
  {
    on: 'cluster',
    name: 'a policy written while admission was away has no author, even with an author annotation of its own',
    attacker: 'a user with create on ttlpolicies, while the webhooks of Lapse are not registered',
    steps: 'writes a policy with an author annotation that names an administrator and a made-up seal',
    mustNotObtain: 'the deletion of objects that only an administrator may delete',
    run: forgeSignature,
  },
  {
    on: 'cluster',
    name: 'a policy that an administrator restores keeps its author',
    attacker: 'a user who wrote a policy and lost the right to delete its targets',
    steps: 'waits until an administrator restores the policy from a backup, with its annotations',
    mustNotObtain: 'deletions with the rights of the administrator',
    run: waitForRestore('restored-policy', POLICY, 'AuthorNotPermitted'),
  },
  {
    on: 'cluster',
    name: 'a Cleaner that an administrator restores keeps its author',
    attacker: 'a user who wrote a Cleaner and lost the right to delete its targets',
    steps: 'waits until an administrator restores the Cleaner from a backup, with its annotations',
    mustNotObtain: 'deletions with the rights of the administrator',
    run: waitForRestore('restored-cleaner', CLEANER, 'Forbidden'),
  },
  {
    on: 'cluster',
    name: 'a restore of a policy whose spec or name was changed in the backup is refused',
    attacker: 'a user who can change a backup of their policy',
    steps: 'changes the spec, or the name, and waits for an administrator to restore it',
    mustNotObtain: 'deletions with the rights of the administrator',
    run: changeBackup,
  },
  {
    on: 'cluster',
    name: 'the signature of a deleted policy is not valid for a new one',
    attacker: 'a user with create on ttlpolicies who copied a policy that an administrator wrote and deleted',
    steps: 'creates the copy with its annotation, with the webhook and while it is not registered',
    mustNotObtain: 'deletions with the rights of the administrator',
    run: replay,
  },
  {
    on: 'process',
    name: 'a user who was removed from a group loses its rights when the signature expires',
    attacker: 'a former member of a group with rights',
    steps: 'keeps a policy that was signed while they were a member',
    mustNotObtain: 'the rights of the group after authors.sealLifetime',
    run: () =>
      expect(computeProof(sealed('mallory'), {}, plus(ISSUED, hours(720)), hours(720)).kind).toBe('expired'),
  },
  {
    on: 'process',
    name: 'groups that a request added to a service account do not count',
    attacker: 'a user who may impersonate a service account and a group',
    steps:
      'writes a policy as the service account with the group system:masters, whose signature never expires',
    mustNotObtain: 'the rights of the group, for ever',
    run: () =>
      expect(computeProof(sealed('system:serviceaccount:ci:robot'), {}, ISSUED, hours(720))).toMatchObject({
        subject: {
          groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
        },
      }),
  },
];
