// Forecasts when ended requests are deleted. In annotation mode, the families of the requests forecast it.

import type { Kind } from '@lapse/kube/api/kind';
import type { RequestObject } from '#api/storage/request';
import { parseRequestTtl } from '#requests/configuration';
import type { RequestRules } from '#requests/rules';
import { eachRequest, statementOnTtl } from '../foreseeRequests.ts';
import { type Foresight, inTurn, type Outlook, type Statement } from '../foresight.ts';

export interface ForeseenRequest {
  readonly kind: Kind<RequestObject>;
  readonly annotationKey: string;
}

export const foreseeRequestTtl = (requests: readonly ForeseenRequest[]): Foresight => ({
  foresee(outlook) {
    const ttl = parseRequestTtl(outlook.configuration.requestTTL);
    const scanned = ttl.mode === 'scanner' ? requests : [];
    return inTurn(scanned.map((request) => foreseeKind(outlook, { ...request, ttl })));
  },
});

async function* foreseeKind(outlook: Outlook, rules: RequestRules): AsyncGenerator<Statement> {
  for await (const request of eachRequest(outlook, rules)) yield statementOnTtl(request, rules, outlook);
}
