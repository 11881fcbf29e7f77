// Checks the connection to the API server, its version, and the clock skew.

import { millis } from '@lapse/base/instant';
import { isObject, type Json } from '@lapse/kube/api/json';
import { lengthText } from '@lapse/simulation/timeline';
import type { Examination, Finding } from './finding.ts';

/** The oldest Kubernetes version that the chart supports: the first that enforces all CRD validation rules. */
export const OLDEST_MINOR = 29;

const UNKNOWN =
  'it does not accept these credentials; they may have expired: log in again, or use another --context';

export const examineServer: Examination = async ({ client }) => {
  const { status, body } = await client.raw({ method: 'GET', path: '/version' });
  const check = 'server';
  if (status !== 200) {
    const message = `the API server responds with status ${status}`;
    const hint =
      status === 401 ? UNKNOWN : 'check that it is a Kubernetes API server, and that it is healthy';
    return [{ check, level: 'problem', about: '/version', message, hint }];
  }
  const version = parseVersion(body);
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (minor >= OLDEST_MINOR) return [{ check, level: 'ok', about: version, message: 'reached' }];
  const message = Number.isNaN(minor)
    ? 'reached; its version is unknown'
    : `reached; older than v1.${OLDEST_MINOR}, the oldest that the chart installs on`;
  return [{ check, level: 'warning', about: version || 'unknown version', message }];
};

function parseVersion(body: Uint8Array): string {
  try {
    const json = JSON.parse(Buffer.from(body).toString()) as Json;
    return isObject(json) && typeof json.gitVersion === 'string' ? json.gitVersion : '';
  } catch {
    return '';
  }
}

export const examineClock: Examination = async ({ assembly, general }): Promise<Finding[]> => {
  const skew = await assembly.services.guard.check();
  const check = 'clock';
  const about = 'this machine';
  switch (skew.kind) {
    case 'good':
      return [{ check, level: 'ok', about, message: 'in sync with the API server' }];
    case 'unknown':
      return [{ check, level: 'note', about, message: 'the API server sends no time' }];
    case 'tooFar': {
      const by = lengthText(millis(Math.round(Math.abs(skew.offset) / 100) * 100));
      const message = `${by} ${skew.offset < 0 ? 'ahead of' : 'behind'} the API server; nothing is deleted if the difference exceeds ${lengthText(general.maxClockSkew)}`;
      return [{ check, level: 'problem', about, message, hint: 'synchronize the clocks (NTP)' }];
    }
  }
};
