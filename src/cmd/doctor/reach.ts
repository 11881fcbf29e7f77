// Can the API server be reached, which version is it, and do the clocks agree?

import { isObject, type Json } from '#api/json';
import { millis } from '#base/instant';
import { lengthText } from '#sim/timeline';
import type { Examination, Finding } from './finding.ts';

/** The oldest Kubernetes whose API has all that is used: selectable versions of flow control and Events apart. */
const OLDEST_MINOR = 27;

export const examineServer: Examination = async ({ client }) => {
  const { status, body } = await client.raw({ method: 'GET', path: '/version' });
  const check = 'server';
  if (status !== 200)
    return [{ check, level: 'problem', about: '/version', message: `the API server answers ${status}` }];
  const version = parseVersion(body);
  const minor = Number(/^v1\.(\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (minor >= OLDEST_MINOR) return [{ check, level: 'ok', about: version, message: 'reached' }];
  const message = `reached; older than v1.${OLDEST_MINOR}, which is the oldest that was thought of`;
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
  const verdict = await assembly.services.guard.check();
  const check = 'clock';
  const about = 'this machine';
  switch (verdict.kind) {
    case 'good':
      return [{ check, level: 'ok', about, message: 'agrees with the API server' }];
    case 'unknown':
      return [{ check, level: 'note', about, message: 'the API server does not say what time it is' }];
    case 'tooFar': {
      const by = lengthText(millis(Math.round(Math.abs(verdict.offset) / 100) * 100));
      const message = `${by} ${verdict.offset < 0 ? 'ahead of' : 'behind'} the API server; nothing is deleted beyond ${lengthText(general.maxClockSkew)}`;
      return [{ check, level: 'problem', about, message, hint: 'synchronise the clocks (NTP)' }];
    }
  }
};
