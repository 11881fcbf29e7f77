// For tests: tables of objects before and after the strip.

import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { stripObject } from './strip.ts';

export const make = (
  apiVersion: string,
  kind: string,
  rest: object = {},
  metadata: object = {},
): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'a', namespace: 'shop', ...metadata },
  ...rest,
});

/** Each row: the captured object, and the expected result without apiVersion, kind, name and namespace. */
export const strips = (rows: Record<string, readonly [KubeObject, object]>): void => {
  for (const [rule, [object, expected]] of Object.entries(rows))
    test(rule, () => {
      const before = structuredClone(object);
      const { apiVersion, kind, metadata, ...rest } = stripObject(object);
      const { name: _, namespace: __, ...meta } = metadata;
      expect({ ...rest, ...(Object.keys(meta).length === 0 ? {} : { metadata: meta }) }).toEqual(expected);
      expect({ apiVersion, kind }).toEqual({ apiVersion: object.apiVersion, kind: object.kind });
      expect(object).toEqual(before);
    });
};

export const token = {
  name: 'kube-api-access-x7k2p',
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
};
