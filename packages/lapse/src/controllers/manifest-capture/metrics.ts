// Metrics of manifest captures. All series exist from the start.

import type { Counter, Registry } from '@lapse/runtime/metrics/registry';
import { Reason } from '#api/storage/conditions';

const RESULTS = [
  Reason.Completed,
  Reason.NotFound,
  Reason.RBACDenied,
  Reason.InvalidTarget,
  Reason.ObjectTooLarge,
  Reason.ChunkConflict,
  Reason.Interrupted,
  Reason.OwnershipConflict,
  Reason.Failed,
] as const;

// A capture is thousands of small reads: from a few milliseconds to minutes.
const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

export interface CaptureMetrics {
  ended(reason: string, seconds: number): void;
  /** Called for a complete checkpoint. `bytes` is the compressed size. */
  captured(objects: number, bytes: number): void;
  /** Chunks whose name existed and that did not belong to the capture. */
  readonly conflicts: Counter;
}

export function captureMetrics(registry: Registry): CaptureMetrics {
  const captures = registry.counter(
    'lapse_manifest_captures_total',
    'Captures of manifests, by how they ended.',
    ['result'],
  );
  for (const result of RESULTS) captures.with(result);
  const objects = registry
    .counter('lapse_manifest_captured_objects_total', 'Objects in complete checkpoints.')
    .with();
  const bytes = registry
    .counter('lapse_manifest_captured_bytes_total', 'Compressed bytes in complete checkpoints.')
    .with();
  const duration = registry
    .histogram(
      'lapse_manifest_capture_duration_seconds',
      'From the first read to the end, of one attempt.',
      [],
      SECONDS,
    )
    .with();
  return {
    ended(reason, seconds) {
      captures.with(reason).inc();
      duration.observe(seconds);
    },
    captured(count, size) {
      objects.inc(count);
      bytes.inc(size);
    },
    conflicts: registry
      .counter(
        'lapse_manifest_chunk_conflicts_total',
        'Chunks that existed and were not the ones to be written.',
      )
      .with(),
  };
}
