// Deletes ended requests at the deadline of their TTL. The upstream controller is a scanner: it lists (from the cache) and
// deletes in a loop. Here each request is a key with a deadline.

import { parseTime, plus } from '@lapse/base/instant';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import type { RequestObject } from '#api/storage/request';
import type { Expirer } from '#deletion/expirer';
import { requireAll } from '#requests/direct';
import { standbyHooks } from '#requests/ownDeletion';
import type { RequestRules } from '#requests/rules';
import { hasEnded } from '#requests/terminal';
import { reconcileTtl } from './reconcile.ts';

export interface RequestTtlOptions<T extends RequestObject> {
  readonly rules: RequestRules<T>;
  /** Must have `onConflict: 'leave'`: the controller has no permission to get single objects. */
  readonly expirer: Expirer<unknown>;
  readonly namespace?: string;
}

export const requestTtlName = (resource: string): string => `request-ttl-${resource}`;

export function requestTtlController<T extends RequestObject>(
  options: RequestTtlOptions<T>,
): ControllerDefinition<T> {
  const { rules, expirer, namespace } = options;
  const { kind, ttl } = rules;
  const name = requestTtlName(kind.resource);
  requireAll(name, { rules, expirer });
  return defineController<T>({
    name,
    for: kind,
    ...(namespace === undefined ? {} : { namespace }),
    facts: ({ metadata, status }) => [
      metadata.deletionTimestamp,
      status?.completionTimestamp,
      status?.conditions?.map(({ type, status: value, reason }) => [type, value, reason]),
    ],
    firstDeadline(request) {
      const completed = parseTime(request.status?.completionTimestamp ?? '');
      const known = hasEnded(request) && Number.isFinite(completed);
      return known ? plus(completed, ttl.length) : undefined;
    },
    concurrency: 8,
    rights: [{ group: kind.group, resource: kind.resource, verbs: ['delete'] }],
    ...standbyHooks(kind, expirer),
    reconcile: (ctx) => reconcileTtl(ctx, rules, expirer),
  });
}
