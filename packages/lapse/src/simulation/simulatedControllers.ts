// All simulated controllers by name, for `--simulated-controllers=`. Each call creates new ones, because they have state.

import type { ControllerDefinition } from '@lapse/runtime/definition';
import { csiSnapshotter } from '@lapse/simulation/controllers/csiSnapshotter';
import { jobFinisher } from '@lapse/simulation/controllers/jobFinisher/controller';
import { namespaceGc } from '@lapse/simulation/controllers/namespaceGc/controller';
import { nodeHeartbeat } from '@lapse/simulation/controllers/nodeHeartbeat/controller';
import { createOwnerGc } from '@lapse/simulation/controllers/ownerGc/controller';
import { podFinisher } from '@lapse/simulation/controllers/podFinisher/controller';
import {
  claimProtection,
  volumeProtection,
} from '@lapse/simulation/controllers/volumeProtection/controllers';
import { provisioner } from './provisioner.ts';

export interface SimulatedController {
  readonly name: string;
  readonly description: string;
  create(): ControllerDefinition;
}

export const SIMULATED_CONTROLLERS: readonly SimulatedController[] = [
  {
    name: 'owner-gc',
    description: 'garbage collection by owner references: background, foreground, orphan',
    create: createOwnerGc,
  },
  {
    name: 'namespace-gc',
    description: 'deletes the content of terminating namespaces, then the namespaces',
    create: namespaceGc,
  },
  {
    name: 'job-finisher',
    description: 'finishes Jobs with the annotation simulation.lapse.dev/finish',
    create: jobFinisher,
  },
  {
    name: 'pod-finisher',
    description: 'runs and finishes Pods with the annotation simulation.lapse.dev/finish',
    create: podFinisher,
  },
  {
    name: 'node-heartbeat',
    description: 'keeps Nodes with the label simulation.lapse.dev/heartbeat ready',
    create: nodeHeartbeat,
  },
  {
    name: 'pvc-protection',
    description: 'removes the protection finalizer of claims that no Pod uses',
    create: claimProtection,
  },
  {
    name: 'pv-protection',
    description: 'removes the protection finalizer of volumes that are not bound',
    create: volumeProtection,
  },
  {
    name: 'csi-snapshotter',
    description:
      'sets VolumeSnapshotContents to ready or failed, as annotated in simulation.lapse.dev/snapshot',
    create: csiSnapshotter,
  },
  {
    name: 'provisioner',
    description:
      'creates the claims that VolumeRestoreRequests ask for, or fails, as annotated in simulation.lapse.dev/restore',
    create: provisioner,
  },
];

/**
 * Selects simulated controllers with the syntax of `--controllers`: names, `*` for all, `-name` to exclude one. An
 * empty list selects none. Throws with the complete list when a name is unknown.
 */
export function simulatedControllersNamed(names: readonly string[]): ControllerDefinition[] {
  const wanted = names.map((name) => name.trim()).filter((name) => name !== '');
  const known = new Set(SIMULATED_CONTROLLERS.map(({ name }) => name));
  const unknown = wanted.filter((name) => name !== '*' && !known.has(name.replace(/^-/, '')));
  if (unknown.length > 0)
    throw new Error(
      `unknown simulated controller ${unknown.map((name) => JSON.stringify(name)).join(', ')}; there are: ${[...known].join(', ')}`,
    );
  const refused = new Set(wanted.filter((name) => name.startsWith('-')).map((name) => name.slice(1)));
  const all = wanted.includes('*') || (refused.size > 0 && refused.size === wanted.length);
  return SIMULATED_CONTROLLERS.filter(({ name }) => !refused.has(name) && (all || wanted.includes(name))).map(
    (controller) => controller.create(),
  );
}
