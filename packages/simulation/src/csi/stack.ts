// All controllers of a cluster with a CSI driver: volume binder and protection, external-provisioner, snapshot-controller
// and csi-snapshotter.

import type { ControllerDefinition } from '@lapse/runtime/definition';
import { claimProtection, volumeProtection } from '../controllers/volumeProtection/controllers.ts';
import { csiProvisioner } from './provisioner.ts';
import { snapshotController } from './snapshotController.ts';
import { csiSnapshotter, type SnapshotterOptions } from './snapshotter.ts';
import { volumeBinder } from './volumeBinder.ts';

export const csiStack = (options: SnapshotterOptions): readonly ControllerDefinition[] => [
  ...volumeBinder(),
  claimProtection(),
  volumeProtection(),
  ...csiProvisioner(options.driver),
  ...snapshotController(options),
  csiSnapshotter(options),
];
