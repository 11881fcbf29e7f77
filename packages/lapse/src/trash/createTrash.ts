// Builds the trash of a process from its configuration.

import type { Clock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import type { Client } from '@lapse/kube/client/client';
import type { ControllerDefinition, Right } from '@lapse/runtime/definition';
import type { Registry } from '@lapse/runtime/metrics/registry';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Trash } from '#deletion/trash';
import { excluding } from './exclusion.ts';
import { trashMetrics } from './metrics.ts';
import { retentionController, TRASH_RIGHTS } from './retentionController.ts';
import { SavingTrash } from './savingTrash.ts';
import { SecretStore } from './secretStore.ts';
import type { TrashSettings } from './settings.ts';

export interface TrashServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly guard: SkewGuard;
  readonly registry: Registry;
  /** Writes the chunks. */
  readonly client: Client;
  /** The namespace of the process. */
  readonly namespace: string;
}

export interface CreatedTrash {
  readonly trash: Trash;
  readonly controller: ControllerDefinition;
  /** The rights that saving needs, beyond reading the objects. */
  readonly rights: readonly (Right & { readonly namespace: string })[];
}

/** Undefined if the trash is disabled. */
export function createTrash(settings: TrashSettings, services: TrashServices): CreatedTrash | undefined {
  if (!settings.enabled) return undefined;
  const { clock, log, guard, registry, client } = services;
  const { namespace = services.namespace, keep, maxBytes, onFailure, jobs } = settings;
  return {
    rights: TRASH_RIGHTS.map((right) => ({ ...right, namespace })),
    controller: retentionController({ clock, guard, registry, namespace, rule: { keep, maxBytes } }),
    trash: new SavingTrash({
      clock,
      log,
      onFailure,
      jobs,
      store: new SecretStore(client, namespace),
      metrics: trashMetrics(registry),
      excludes: excluding(settings.exclude),
    }),
  };
}
