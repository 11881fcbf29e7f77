// Keys of requests, for watches.

import { keyOf, type ObjectKey } from '#api/kind';
import type { KubeObject } from '#api/object';

export const keysOf = (objects: readonly KubeObject[]): ObjectKey[] => objects.map(keyOf);
