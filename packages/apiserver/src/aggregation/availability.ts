// Availability of an aggregated API: its Service resolves to an address, and the server there answers discovery for
// the group version. The result is the Available condition of the APIService.

import { type Instant, seconds } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { JsonObject } from '@lapse/kube/api/json';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { discard } from '../admission/webhooks/outbound.ts';
import { objects, part } from '../strategies/values.ts';
import { callRemote, type RemoteTransport, urlOf } from './call.ts';
import { describeConnectionError } from './connectionError.ts';
import { AGGREGATOR } from './identity.ts';
import type { Registration } from './registration.ts';
import { resolveService } from './resolve.ts';

export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export const LOCAL: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};
const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };
const TIMEOUT = seconds(5);

export async function checkAvailability(
  transport: RemoteTransport,
  registration: Registration,
): Promise<Availability> {
  const where = resolveService(transport.store, registration.service);
  if (where.kind === 'missing') return { status: 'False', reason: where.reason, message: where.message };
  const { group, version } = registration;
  const path = `/apis/${group}/${version}`;
  const url = urlOf(where, path);
  const failed = (why: string): Availability => ({
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: ${why}`,
  });
  try {
    const { status, body } = await callRemote(transport, registration, where, {
      method: 'GET',
      path,
      user: AGGREGATOR,
      headers: { accept: 'application/json' },
      timeout: TIMEOUT,
    });
    await discard(body);
    return status >= 200 && status <= 299 ? PASSED : failed(`bad status from ${url}: ${status}`);
  } catch (cause) {
    return failed(`Get ${JSON.stringify(url)}: ${describeConnectionError(cause)}`);
  }
}

/** The object with the condition in its status; undefined when it does not change. */
export function withAvailability(
  object: KubeObject,
  availability: Availability,
  now: Instant,
): KubeObject | undefined {
  const present = objects(part(object, 'status'), 'conditions');
  const { status, reason, message } = availability;
  const conditions = setCondition(present, { type: 'Available', status, reason, message }, now);
  if (conditions === present) return undefined;
  const next = clone(asJson(object)) as JsonObject;
  next['status'] = { conditions };
  return asObject(next);
}
