// A served cluster, the objects of the tests about lapse extend, and the question.

import { hours, parseTime } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Changed, changeObject } from 'lapse/cli/extend/changeObject';
import type { RequestedChange } from 'lapse/cli/extend/proposeChanges';
import { FAMILIES } from 'lapse/controllers/registry';
import { parseTarget, resolveKind } from 'lapse/forecast/resolveKind';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { selectFamilies } from 'lapse/manager/selection';
import { NOW } from './answer.ts';
import type { ServedWorld } from './server.ts';

const document = loadConfiguration(FAMILIES, {
  flags: { 'act-as': 'controller', 'feature-gates': 'TTLAfterFinishedPods=true' },
  environment: {},
});
const general = readGeneral(document);

interface Asked {
  readonly world: ServedWorld;
  readonly ref: string;
  readonly requested: RequestedChange;
  readonly dryRun?: boolean;
  readonly client?: ServedWorld['client'];
}

export function ask({
  world,
  ref,
  requested,
  dryRun = false,
  client = world.client,
}: Asked): Promise<Changed> {
  const { kind, name } = parseTarget([ref]);
  const selected = selectFamilies(FAMILIES, general.controllers ?? ['*']);
  const { served, read } = world;
  return changeObject({
    client,
    explain: { client: world.client, served, read, now: NOW, general, document, known: FAMILIES, selected },
    kind: resolveKind(served, kind),
    key: { name, namespace: 'ci' },
    requested,
    dryRun,
  });
}

export const live = async (world: ServedWorld, ref: string): Promise<KubeObject> => {
  const { kind, name } = parseTarget([ref]);
  return (await world.client.get(resolveKind(world.served, kind) as Kind, { namespace: 'ci', name }))!;
};

const FINISHED = `conditions: [{ type: Complete, status: "True", lastTransitionTime: 2026-03-01T11:30:00Z }]`;
export const job = (spec: string, metadata = '') => `
apiVersion: batch/v1
kind: Job
metadata: { name: report, namespace: ci${metadata} }
spec: { ${spec} }
status: { ${FINISHED} }
`;
export const RUNNING = `
apiVersion: batch/v1
kind: Job
metadata: { name: report, namespace: ci }
spec: { ttlSecondsAfterFinished: 3600 }
`;
export const POD = `
apiVersion: v1
kind: Pod
metadata: { name: report, namespace: ci, annotations: { lapse.dev/ttl-seconds-after-finished: "3600" } }
status:
  phase: Succeeded
  containerStatuses: [{ name: main, state: { terminated: { exitCode: 0, finishedAt: 2026-03-01T11:30:00Z } } }]
`;
export const policy = (kind: string, more: string) => `
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: rule, namespace: ci }
spec: { target: { apiVersion: ${kind === 'Job' ? 'batch/v1' : 'v1'}, kind: ${kind} }, ttl: 1h, mode: Enforce, ${more} }
`;
export const settings = (metadata = '') => `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: ci, creationTimestamp: 2026-03-01T11:30:00Z${metadata} }
`;
export const CLEANER = (metadata = '', more = '') => `
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: preview, namespace: ci, creationTimestamp: 2026-03-01T11:30:00Z${metadata} }
spec: { ttl: 1h, targets: [{ name: a, reference: { kind: configmap, version: v1, name: settings }, delete: true }] }
${more}
`;
export const two: RequestedChange = { kind: 'for', length: hours(2) };
export const until = (text: string): RequestedChange => ({ kind: 'until', at: parseTime(text) });
export const OVERRIDES = 'from: Created, allowOverrides: true';

export const textOf = (changed: Changed): string =>
  changed.kind === 'changed'
    ? changed.edits
        .map(({ field, before = 'unset', after = 'removed' }) => `${field}: ${before} → ${after}`)
        .join('; ')
    : `${changed.kind}${changed.kind === 'refused' ? `: ${changed.why}` : ''}`;
