// Creates the objects that every cluster starts with: namespaces, priority classes, flow control, the range of
// Services. Roles are created by access/defaultRoles.ts.

import { formatTime, type Instant } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import type { Core } from './context.ts';
import { bootstrapData } from './data/tables.ts';
import { keyOf, statusOf } from './resources/resource.ts';
import { objects } from './strategies/values.ts';

type Parts = Pick<Core, 'store' | 'clock' | 'random'>;

/** All of them exist when this resolves. Objects that exist already are not changed. */
export async function bootstrap({ store, clock, random }: Parts): Promise<void> {
  const missing = Object.entries(bootstrapData()).flatMap(([resource, all]) =>
    resource.endsWith('.rbac.authorization.k8s.io')
      ? []
      : all
          .filter((object) => !store.get(resource, bootstrapKey(object)))
          .map((object) => ({ resource, object })),
  );
  await Promise.all(
    missing.map(({ resource, object }) =>
      store.put(resource, bootstrapKey(object), 0, withSystemFields(object, clock.now(), uuid(random))),
    ),
  );
}

export const bootstrapKey = ({ metadata }: KubeObject): string => keyOf(metadata.namespace, metadata.name!);

/** A copy with the fields that the server assigns. */
export function withSystemFields(object: KubeObject, now: Instant, uid: string): KubeObject {
  const made = asObject(clone(asJson(object)));
  const creationTimestamp = formatTime(now);
  made.metadata = { ...made.metadata, uid, creationTimestamp };
  for (const condition of objects(statusOf(made), 'conditions'))
    condition['lastTransitionTime'] = creationTimestamp;
  return made;
}
