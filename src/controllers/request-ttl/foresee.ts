// What this family can say beforehand: when requests go that have ended. Where the annotation decides, the controllers of
// the requests do it, and say so.

import type { Kind } from '#api/kind';
import type { RequestObject } from '#api/kinds/storage/request';
import { parseRequestTtl } from '#lifecycle/requests/configuration';
import { eachRequest, statementOnTtl } from '../foreseeRequests.ts';
import type { Foresight } from '../foresight.ts';

export interface ForeseenRequest {
  readonly kind: Kind<RequestObject>;
  readonly annotationKey: string;
}

export const foreseeRequestTtl = (requests: readonly ForeseenRequest[]): Foresight => ({
  async *foresee(outlook) {
    const ttl = parseRequestTtl(outlook.configuration.requestTTL);
    if (ttl.mode !== 'scanner') return;
    for (const request of requests) {
      const rules = { ...request, ttl };
      for await (const found of eachRequest(outlook, rules)) yield statementOnTtl(found, rules, outlook);
    }
  },
});
