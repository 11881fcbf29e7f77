// Users in the form of reviews and webhooks.

import type { JsonObject } from '@lapse/kube/api/json';
import type { UserInfo } from '../resources/resource.ts';

export const userJson = (user: UserInfo): JsonObject => ({
  username: user.username,
  ...(user.uid ? { uid: user.uid } : {}),
  groups: [...user.groups],
  ...(user.extra
    ? { extra: Object.fromEntries(Object.entries(user.extra).map(([k, v]) => [k, [...v]])) }
    : {}),
});
