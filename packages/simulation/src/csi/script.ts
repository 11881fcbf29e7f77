// Faults of the simulated driver by annotation of a class: `5s` (takes that time), `error: text` (fails), `never`.

import { readGoDuration } from '@lapse/base/goDuration';
import { hours, millis } from '@lapse/base/instant';
import type { CsiFault } from './driver.ts';

/** On a VolumeSnapshotClass. */
export const SNAPSHOT_SCRIPT = 'simulation.lapse.dev/snapshot';
/** On a StorageClass. */
export const VOLUME_SCRIPT = 'simulation.lapse.dev/volume';

const NEVER = hours(1_000_000);

/** Undefined without a script. An invalid script is an error of the driver, so the user finds it where errors are. */
export function scriptedFault(
  method: 'CreateSnapshot' | 'CreateVolume',
  key: string,
  script: string | undefined,
): CsiFault | undefined {
  if (script === undefined) return undefined;
  const text = script.trim();
  if (text.startsWith('error:')) {
    const message = text.slice('error:'.length).trim() || 'failed as annotated';
    return { method, error: { code: 'Internal', message } };
  }
  const nanos = readGoDuration(text);
  if (text !== 'never' && (nanos === undefined || nanos < 0n)) {
    const message = `${key}: ${JSON.stringify(script.slice(0, 100))} is not "5s", "error: text" or "never"`;
    return { method, error: { code: 'InvalidArgument', message } };
  }
  const length = nanos === undefined ? NEVER : millis(Number(nanos / 1_000_000n));
  // The sidecar waits only a minute for a call: a snapshot that takes long is taken at once and not ready.
  return method === 'CreateSnapshot' ? { method, notReadyFor: length } : { method, delay: length };
}
