// Metrics of the trash. All series exist from the start.

import type { Counter, Registry } from '@lapse/runtime/metrics/registry';

export interface TrashMetrics {
  stored(objects: number, bytes: number): void;
  readonly failures: Counter;
}

export function trashMetrics(registry: Registry): TrashMetrics {
  const objects = registry
    .counter('lapse_trash_objects_total', 'Objects that were saved before their deletion.')
    .with();
  const chunks = registry
    .counter('lapse_trash_chunks_total', 'Chunks of saved objects that were stored.')
    .with();
  const bytes = registry.counter('lapse_trash_bytes_total', 'Compressed bytes of saved objects.').with();
  return {
    stored(count, size) {
      objects.inc(count);
      chunks.inc();
      bytes.inc(size);
    },
    failures: registry
      .counter(
        'lapse_trash_failures_total',
        'Objects that could not be saved. They are kept, or deleted with trash.onFailure: Delete.',
      )
      .with(),
  };
}
