// For tests: requests in short form.

import { formatTime, type Instant, instant, millis, plus } from '@lapse/base/instant';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';

export const START = instant(Date.parse('2026-03-01T10:00:00Z'));

export const at = (length: number): Instant => plus(START, millis(length));

export interface Shape {
  ready?: string;
  reason?: string;
  completed?: string | null;
  ttl?: string;
  deleting?: boolean;
}

export const request = (shape: Shape = {}): RequestObject => {
  const { ready, reason = 'Completed', completed, ttl, deleting } = shape;
  const time = completed === undefined ? formatTime(START) : completed;
  return {
    apiVersion: 'storage.deckhouse.io/v1alpha1',
    kind: 'VolumeCaptureRequest',
    metadata: {
      name: 'r',
      namespace: 'ns',
      uid: 'u-1',
      resourceVersion: '5',
      ...(ttl === undefined ? {} : { annotations: { [AnnotationKeyTTL]: ttl } }),
      ...(deleting ? { deletionTimestamp: formatTime(START) } : {}),
    },
    ...(ready === undefined
      ? {}
      : {
          status: {
            ...(time === null ? {} : { completionTimestamp: time }),
            conditions: [
              { type: 'Ready', status: ready, reason, message: '', lastTransitionTime: formatTime(START) },
            ],
          },
        }),
  };
};
