// Keys of requests, for watches.

import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';

export const keysOf = (objects: readonly KubeObject[]): ObjectKey[] => objects.map(keyOf);
