// Rules of fire-and-forget requests that are the same for all request kinds.

import type { RequestRecord } from '@lapse/simulation/wire';
import { expect } from 'vitest';
import type { Scene } from '../scene.ts';

/** `create objectkeepers`, `patch volumecapturerequests/status`. */
export const askedText = ({ verb, resource, subresource }: RequestRecord): string =>
  `${verb} ${subresource ? `${resource}/${subresource}` : resource}`;

/** On stock CRDs the first create of a content, without a VolumeSnapshot, is refused. */
export const isAccepted = ({ status }: Pick<RequestRecord, 'status'>): boolean =>
  typeof status === 'number' && status < 300;

/** Rule 4: a completed request is not reused. `spec` differs from its current one. */
export async function expectNotReused(
  { when, then, simulation }: Scene,
  ref: string,
  spec: object,
): Promise<void> {
  const before = await then.object(ref);
  await expect(when.user.patch(ref, { spec })).rejects.toThrow('delete it and create another');
  const writes = (await simulation()).writes().length;
  await when.user.patch(ref, { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } });
  expect((await then.object(ref)).status).toEqual(before.status);
  expect((await simulation()).writes()).toHaveLength(writes);
}
