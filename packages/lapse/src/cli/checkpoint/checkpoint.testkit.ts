// A namespace with various objects, a checkpoint of it, and a commandContext that records the output.

import { type Clock, realClock } from '@lapse/base/clock';
import { defineKind, type Kind, keyOf } from '@lapse/kube/api/kind';
import { Namespace } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { ManifestCheckpoint, manifestCheckpointKind } from '#api/manifestCheckpoint';
import {
  ManifestCheckpointContentChunk,
  manifestCheckpointContentChunkKind,
} from '#api/manifestCheckpointContentChunk';
import { chunkObject, encodeAll } from '#checkpoint/checkpoint.testkit';
import { compareIdentities } from '#checkpoint/identity';
import { buildManifest } from '#checkpoint/manifest';
import { applyCrds } from '#manager/crds';
import { type CommandContext, type ExitCode, reportingErrors } from '../commandContext.ts';

const kind = (group: string, name: string, resource = `${name.toLowerCase()}s`): Kind =>
  defineKind<KubeObject>({ group, version: 'v1', kind: name, resource, namespaced: true });

const Shelf = kind('shop.example.com', 'Shelf', 'shelves');
const shelfKind = defineCustomKind({
  kind: Shelf,
  description: 'A kind of another project.',
  spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
});

const KINDS: readonly Kind[] = [
  kind('', 'ServiceAccount'),
  kind('', 'ConfigMap'),
  kind('', 'Secret'),
  kind('', 'PersistentVolumeClaim'),
  kind('', 'Service'),
  kind('apps', 'Deployment'),
  kind('batch', 'Job'),
  kind('rbac.authorization.k8s.io', 'RoleBinding'),
  Shelf,
];

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { restartPolicy: 'Always', containers: [{ name: 'web', image: 'example.com/web:1' }] },
};

type Authored = readonly [kind: string, rest: object, metadata: object];

/** Manifests as a user writes them. */
const authored = (namespace: string): readonly Authored[] => [
  ['ServiceAccount', {}, { name: 'web' }],
  ['ConfigMap', { data: { url: `http://db.${namespace}.svc:5432`, text: 'é 😀' } }, { name: 'settings' }],
  ['Secret', { type: 'Opaque', data: { password: 'aHVudGVyMg==' } }, { name: 'db' }],
  [
    'PersistentVolumeClaim',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        volumeName: 'pv-of-old',
      },
    },
    { name: 'data', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
  ],
  [
    'Service',
    { spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] } },
    { name: 'web' },
  ],
  [
    'Deployment',
    { spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template } },
    { name: 'web', annotations: { 'deployment.kubernetes.io/revision': '7' } },
  ],
  [
    'RoleBinding',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'web', namespace }],
    },
    { name: 'web' },
  ],
  ['Shelf', { spec: { size: 3, big: 9_007_199_254_740_993n } }, { name: 'left' }],
];

export const serveKinds = (client: Client, clock: Clock = realClock): Promise<string[]> =>
  applyCrds(client, clock, [manifestCheckpointKind, manifestCheckpointContentChunkKind, shelfKind]);

/** Creates a namespace with its objects. Returns the objects as the API server stored them. */
export async function furnish(client: Client, namespace: string): Promise<KubeObject[]> {
  const made = [
    objectOf(
      await client.create(Namespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace, labels: { team: 'a' } },
      }),
    ) as KubeObject,
  ];
  for (const [name, rest, metadata] of authored(namespace)) {
    const found = KINDS.find((one) => one.kind === name)!;
    const object: KubeObject = {
      apiVersion: apiVersionOf(found),
      kind: name,
      metadata: { namespace, ...metadata },
      ...rest,
    };
    made.push(objectOf(await client.create(found, object)));
  }
  return made;
}

const identity = ({ apiVersion, kind: name, metadata }: KubeObject) => ({
  apiVersion,
  kind: name,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

export interface CaptureOptions {
  readonly namespace: string;
  /** Gzip bytes per chunk. */
  readonly most?: number;
  /** Default: Ready. */
  readonly ready?: boolean;
}

/** Writes a checkpoint of these objects in the format of a capture. */
export async function capture(
  client: Client,
  name: string,
  objects: readonly KubeObject[],
  { namespace, most, ready = true }: CaptureOptions,
): Promise<void> {
  const sorted = objects.map(buildManifest).sort((a, b) => compareIdentities(identity(a), identity(b)));
  const chunks = encodeAll(sorted, most);
  const checkpoint = objectOf(
    await client.create(ManifestCheckpoint, {
      apiVersion: apiVersionOf(ManifestCheckpoint),
      kind: ManifestCheckpoint.kind,
      metadata: { name },
      spec: {
        sourceNamespace: namespace,
        manifestCaptureRequestRef: { name: 'before', namespace, uid: 'u' },
      },
    }),
  );
  for (const [index, chunk] of chunks.entries())
    objectOf(await client.create(ManifestCheckpointContentChunk, chunkObject(name, index, chunk)));
  if (!ready) return;
  const infos = chunks.map(({ objectsCount, sizeBytes, checksum }, index) => {
    return { name: `${name}-${index}`, index, objectsCount, sizeBytes, checksum };
  });
  const status = {
    chunks: infos,
    totalObjects: sorted.length,
    totalSizeBytes: infos.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Completed',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  objectOf(
    await client.patch(
      ManifestCheckpoint,
      keyOf(checkpoint),
      { type: 'merge', patch: { status } },
      { subresource: 'status' },
    ),
  );
}

export interface RememberingDesk extends CommandContext {
  /** Standard output and messages since the last call. */
  take(): { readonly out: string; readonly said: string };
  /** Returns the exit code. Failures are printed. */
  run(work: (commandContext: CommandContext) => Promise<ExitCode>): Promise<number>;
}

export function recordingContext(client: Client, clock: Clock = realClock): RememberingDesk {
  let out = '';
  let said = '';
  const commandContext: RememberingDesk = {
    client,
    clock,
    namespace: 'default',
    colour: false,
    out: async (text) => {
      out += text;
    },
    say: (text) => {
      said += `${text}\n`;
    },
    take() {
      const taken = { out, said };
      out = '';
      said = '';
      return taken;
    },
    run: (work) => reportingErrors(commandContext, work),
  };
  return commandContext;
}
