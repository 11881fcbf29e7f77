// Finds other controllers that act on the same objects: the TTL controller of kube-controller-manager, another Lapse,
// other cleaners.

import { type Instant, parseTime } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type DoctorContext, type Examination, type Finding, listIfAllowed } from './finding.ts';

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}
const Lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
});

interface Deployment extends KubeObject {
  spec?: { replicas?: number; template?: { spec?: { containers?: { image?: string }[] } } };
}
const Deployment = defineKind<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
});

const check = 'others';
const note = (about: string, message: string): Finding => ({ check, level: 'note', about, message });

/** Not expired: a process holds it now. */
function isHeld({ spec }: Lease, now: Instant): boolean {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = spec ?? {};
  return holderIdentity !== '' && now - parseTime(renewTime) <= leaseDurationSeconds * 1000;
}

export const examineTtlController: Examination = async ({ client, selected, clock }) => {
  if (!selected.some(({ name }) => name === 'ttl-after-finished')) return [];
  const about = 'kube-controller-manager';
  const pods = (await listIfAllowed(client, Pod, 'kube-system')) ?? [];
  const commands = pods.filter(isControllerManager).map(commandOf);
  const hint = 'disable it with --controllers=*,-ttl-after-finished-controller on kube-controller-manager';
  const message = 'its TTL controller also acts on spec.ttlSecondsAfterFinished of Jobs';
  if (commands.length > 0)
    return commands.every(isHandedOver)
      ? [{ check, level: 'ok', about, message: 'does not delete finished Jobs' }]
      : [
          {
            check,
            level: 'warning',
            about,
            message: `${message}: both controllers delete these objects`,
            hint,
          },
        ];
  const leases = await listIfAllowed(client, Lease, 'kube-system');
  if (leases === undefined) return [note(about, `is not visible; if it runs, ${message}`)];
  const runs = leases.some((lease) => lease.metadata.name === about && isHeld(lease, clock.now()));
  return runs
    ? [{ check, level: 'warning', about, message: `its flags are not visible; ${message}`, hint }]
    : [{ check, level: 'ok', about, message: 'does not run' }];
};

const isControllerManager = ({ metadata }: Pod): boolean =>
  metadata.labels?.component === 'kube-controller-manager' ||
  /^kube-controller-manager-/.test(metadata.name ?? '');

function commandOf(pod: Pod): string {
  const { containers = [] } = (pod.spec ?? {}) as { containers?: { command?: string[]; args?: string[] }[] };
  return containers.flatMap(({ command = [], args = [] }) => [...command, ...args]).join(' ');
}

const isHandedOver = (command: string): boolean =>
  /--controllers=(?:\S*,)?-ttl-after-finished(?:-controller)?(?:,|\s|$)/.test(command);

const LEASES = /^lapse(-|$)/;

/** The lease of this configuration is not reported. */
export const examineLeases: Examination = async ({ client, clock, assembly }: DoctorContext) => {
  const leases = await listIfAllowed(client, Lease);
  if (leases === undefined) return [note('leases', 'may not be listed: another instance of Lapse may run')];
  const { lease: own } = assembly;
  const held = leases.filter((lease) => LEASES.test(lease.metadata.name ?? '') && isHeld(lease, clock.now()));
  if (held.length === 0)
    return [{ check, level: 'ok', about: 'leases', message: 'no other instance of Lapse is the leader' }];
  return held.map((lease): Finding => {
    const { namespace = '', name = '' } = lease.metadata;
    const about = `lease ${namespace}/${name}`;
    const holder = lease.spec?.holderIdentity ?? '';
    const isOwn = own?.namespace === namespace && own.name === name;
    return isOwn
      ? note(about, `is held by ${holder}: a process with this configuration would be a standby`)
      : {
          check,
          level: 'warning',
          about,
          message: `is held by ${holder}: another instance of Lapse is the leader there`,
          hint: 'run one instance per cluster, or set --namespace for each',
        };
  });
};

/** Other cleaners, by their images, and what they act on. */
const CLEANERS: readonly (readonly [pattern: RegExp, name: string, acts: string])[] = [
  [/kube-janitor/, 'kube-janitor', 'objects annotated janitor/ttl and janitor/expires'],
  [/k8s-ttl-controller/, 'k8s-ttl-controller', 'objects annotated k8s-ttl-controller.twin.sh/ttl'],
  [/k8s-cleaner/, 'k8s-cleaner', 'the objects that its Cleaner resources select'],
  [
    /kyverno-cleanup-controller|kyverno\/cleanup/,
    'kyverno',
    'CleanupPolicies and the label cleanup.kyverno.io/ttl',
  ],
  [/kube-cleanup-operator/, 'kube-cleanup-operator', 'finished Jobs and Pods'],
  [/tekton.*pruner|pruner.*tekton/, 'tekton pruner', 'PipelineRuns and TaskRuns'],
  [/vtex.*cleaner-controller|cleaner-controller/, 'cleaner-controller', 'Cleaners of cleaner.vtex.dev'],
  [/sds-replicated-volume/, 'sds-replicated-volume', 'ReplicatedStoragePools'],
  [/state-snapshotter|storage-foundation/, 'storage-foundation', 'capture and restore requests'],
];

export const examineCleaners: Examination = async ({ client }) => {
  const deployments = await listIfAllowed(client, Deployment);
  if (deployments === undefined)
    return [note('deployments', 'may not be listed: other cleanup controllers may run')];
  const findings = deployments.flatMap(({ metadata, spec }): Finding[] => {
    if (spec?.replicas === 0) return [];
    const images = (spec?.template?.spec?.containers ?? []).map(({ image = '' }) => image).join(' ');
    const hit = CLEANERS.find(([pattern]) => pattern.test(images));
    if (hit === undefined) return [];
    const about = `deployment ${metadata.namespace}/${metadata.name}`;
    return [{ check, level: 'warning', about, message: `${hit[1]} acts on ${hit[2]}` }];
  });
  return findings.length > 0
    ? findings
    : [{ check, level: 'ok', about: 'deployments', message: 'no other known cleanup controller runs' }];
};
