// Forecasts when ended requests are deleted. In annotation mode, the families of the requests forecast it.

import type { Kind } from '@lapse/kube/api/kind';
import type { RequestObject } from '#api/storage/request';
import { parseRequestTtl } from '#requests/configuration';
import type { RequestRules } from '#requests/rules';
import { type ForecastContext, type Forecaster, inTurn, type Statement } from '../forecaster.ts';
import { eachRequest, statementOnTtl } from '../forecastRequests.ts';

export interface ForeseenRequest {
  readonly kind: Kind<RequestObject>;
  readonly annotationKey: string;
}

export const forecastRequestTtl = (requests: readonly ForeseenRequest[]): Forecaster => ({
  forecast(forecastContext) {
    const ttl = parseRequestTtl(forecastContext.configuration.requestTTL);
    const scanned = ttl.mode === 'scanner' ? requests : [];
    return inTurn(scanned.map((request) => forecastKind(forecastContext, { ...request, ttl })));
  },
});

async function* forecastKind(
  forecastContext: ForecastContext,
  rules: RequestRules,
): AsyncGenerator<Statement> {
  for await (const request of eachRequest(forecastContext, rules))
    yield statementOnTtl(request, rules, forecastContext);
}
