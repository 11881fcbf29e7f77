// Warnings about restore requests. No other Events are watched, and the cache keeps only the fields that decisions
// read.

import { KubeEvent } from '@lapse/runtime/events/build';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import type { Projection } from '@lapse/runtime/source';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import type { Report } from './decide.ts';

export const REGARDING = 'regarding';

export const reportIndexes = {
  [REGARDING]: ({ regarding }: KubeEvent): string[] => (regarding?.uid ? [regarding.uid] : []),
};

export const reportProjection: Projection<KubeEvent> = {
  name: 'reports',
  project(event) {
    const { name, namespace, uid, resourceVersion } = event.metadata;
    const metadata = { name: name!, namespace: namespace!, uid: uid!, resourceVersion: resourceVersion! };
    return { ...event, metadata };
  },
};

export const reportsAbout = (cache: KindReader, { metadata }: VolumeRestoreRequest): readonly Report[] =>
  cache.byIndex(KubeEvent, REGARDING, metadata.uid!) as readonly Report[];
