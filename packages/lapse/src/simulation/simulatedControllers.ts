// All simulated controllers by name, for `--simulated-controllers=`. Each call creates new ones, because they have state.

import { seconds } from '@lapse/base/instant';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import { jobFinisher } from '@lapse/simulation/controllers/jobFinisher/controller';
import { namespaceGc } from '@lapse/simulation/controllers/namespaceGc/controller';
import { nodeHeartbeat } from '@lapse/simulation/controllers/nodeHeartbeat/controller';
import { createOwnerGc } from '@lapse/simulation/controllers/ownerGc/controller';
import { podFinisher } from '@lapse/simulation/controllers/podFinisher/controller';
import {
  claimProtection,
  volumeProtection,
} from '@lapse/simulation/controllers/volumeProtection/controllers';
import { type CsiDriver, type CsiMethod, SimulatedDriver } from '@lapse/simulation/csi/driver';
import { csiProvisioner } from '@lapse/simulation/csi/provisioner';
import { snapshotController } from '@lapse/simulation/csi/snapshotController';
import { csiSnapshotter } from '@lapse/simulation/csi/snapshotter';
import { volumeBinder } from '@lapse/simulation/csi/volumeBinder';

export interface SimulatedController {
  readonly name: string;
  readonly description: string;
  /** The driver is the storage system of the cluster. */
  create(driver: CsiDriver): readonly ControllerDefinition[];
}

/** Serves the contents of Deckhouse clusters too. The stock CRDs refuse contents without a VolumeSnapshot. */
const UNBOUND = { unbound: true };

/** Calls that create something take a second, so that users see what is pending. */
const takesASecond = (method: CsiMethod) =>
  method.startsWith('Create') ? { method, delay: seconds(1) } : undefined;

export const SIMULATED_CONTROLLERS: readonly SimulatedController[] = [
  {
    name: 'owner-gc',
    description: 'garbage collection by owner references: background, foreground, orphan',
    create: () => [createOwnerGc()],
  },
  {
    name: 'namespace-gc',
    description: 'deletes the content of terminating namespaces, then the namespaces',
    create: () => [namespaceGc()],
  },
  {
    name: 'job-finisher',
    description: 'finishes Jobs with the annotation simulation.lapse.dev/finish',
    create: () => [jobFinisher()],
  },
  {
    name: 'pod-finisher',
    description: 'runs and finishes Pods with the annotation simulation.lapse.dev/finish',
    create: () => [podFinisher()],
  },
  {
    name: 'node-heartbeat',
    description: 'keeps Nodes with the label simulation.lapse.dev/heartbeat ready',
    create: () => [nodeHeartbeat()],
  },
  {
    name: 'pvc-protection',
    description: 'removes the protection finalizer of claims that no Pod uses',
    create: () => [claimProtection()],
  },
  {
    name: 'pv-protection',
    description: 'removes the protection finalizer of volumes that are not bound',
    create: () => [volumeProtection()],
  },
  {
    name: 'pv-binder',
    description: 'binds claims and volumes',
    create: volumeBinder,
  },
  {
    name: 'csi-provisioner',
    description:
      'creates and deletes volumes of every CSI driver; annotate a StorageClass with simulation.lapse.dev/volume for delays and errors',
    create: csiProvisioner,
  },
  {
    name: 'snapshot-controller',
    description: 'creates and binds the contents of VolumeSnapshots',
    create: () => snapshotController(UNBOUND),
  },
  {
    name: 'csi-snapshotter',
    description:
      'takes and deletes snapshots of every CSI driver; annotate a VolumeSnapshotClass with simulation.lapse.dev/snapshot for delays and errors',
    create: (driver) => [csiSnapshotter({ driver, ...UNBOUND })],
  },
];

/**
 * Selects simulated controllers with the syntax of `--controllers`: names, `*` for all, `-name` to exclude one. An
 * empty list selects none. Throws with the complete list when a name is unknown.
 */
export function selectSimulatedControllers(names: readonly string[]): readonly SimulatedController[] {
  const wanted = names.map((name) => name.trim()).filter((name) => name !== '');
  const known = new Set(SIMULATED_CONTROLLERS.map(({ name }) => name));
  const unknown = wanted.filter((name) => name !== '*' && !known.has(name.replace(/^-/, '')));
  if (unknown.length > 0)
    throw new Error(
      `unknown simulated controller ${unknown.map((name) => JSON.stringify(name)).join(', ')}; there are: ${[...known].join(', ')}`,
    );
  const refused = new Set(wanted.filter((name) => name.startsWith('-')).map((name) => name.slice(1)));
  const all = wanted.includes('*') || (refused.size > 0 && refused.size === wanted.length);
  return SIMULATED_CONTROLLERS.filter(({ name }) => !refused.has(name) && (all || wanted.includes(name)));
}

/** New controllers with one storage system, which stands for every CSI driver. */
export function simulatedControllersNamed(names: readonly string[]): ControllerDefinition[] {
  const driver = new SimulatedDriver(undefined, takesASecond);
  return selectSimulatedControllers(names).flatMap(({ create }) => create(driver));
}
