// Plain JSON requests, for tests that call a target directly.

import type { Json } from '@lapse/kube/api/json';
import { buildRequest, exchange } from '../replay/exchange.ts';
import type { Target, WireResponse } from '../replay/types.ts';

export type Ask = (method: string, path: string, body?: Json, type?: string) => Promise<WireResponse>;

export const asker =
  (target: Target): Ask =>
  (method, path, body, type) =>
    exchange(
      buildRequest(
        {
          method,
          path,
          ...(body === undefined ? {} : { body }),
          ...(type === undefined ? {} : { headers: { 'content-type': type } }),
        },
        {},
        target,
      ),
      target,
    );
