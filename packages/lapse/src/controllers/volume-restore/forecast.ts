// The forecast for restore requests: what unfinished ones wait for and, where the annotation sets a TTL, when
// finished ones are deleted.

import { PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { AnnotationKeyTTL } from '#api/storage/conditions';
import { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { parseRequestTtl } from '#requests/configuration';
import { isFailure } from '#requests/refusal';
import type { RequestRules } from '#requests/rules';
import { hasEnded } from '#requests/terminal';
import { type ForecastContext, type Forecaster, nameOf, type Statement } from '../forecaster.ts';
import { eachRequest, statementOnTtl } from '../forecastRequests.ts';
import { computeSource, computeTarget, computeTargetState, isUnserved } from './decide.ts';

export const forecastRestores: Forecaster = {
  async *forecast(forecastContext) {
    const { configuration } = forecastContext;
    const rules: RequestRules<VolumeRestoreRequest> = {
      kind: VolumeRestoreRequest,
      annotationKey: AnnotationKeyTTL,
      ttl: parseRequestTtl(configuration.requestTTL),
    };
    const allowElsewhere = configuration.restore?.allowCrossNamespace === true;
    for await (const request of eachRequest(forecastContext, rules)) {
      if (!hasEnded(request)) yield await statementOnWork(request, forecastContext, allowElsewhere);
      else if (rules.ttl.mode === 'annotation') yield statementOnTtl(request, rules, forecastContext);
    }
  },
};

async function statementOnWork(
  request: VolumeRestoreRequest,
  { snapshot, now }: ForecastContext,
  allowElsewhere: boolean,
): Promise<Statement> {
  const about = { object: nameOf(VolumeRestoreRequest, request), rule: 'spec.sourceRef' };
  const stays = (because: string): Statement => ({ kind: 'kept', ...about, because, reason: 'Unfinished' });
  const source = computeSource(request);
  const target = computeTarget(request, allowElsewhere);
  for (const part of [source, target])
    if (isFailure(part)) return stays(`it fails (${part.reason}): ${part.message}`);
  if (isFailure(source) || isFailure(target)) return stays('it fails');
  const claims = await snapshot.list({
    kind: PersistentVolumeClaim,
    ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
  });
  const state = computeTargetState(
    claims.find(({ metadata }) => metadata.name === target.name),
    request,
  );
  if (isFailure(state)) return stays(`it fails (${state.reason}): ${state.message}`);
  const what = `${source.kind} ${source.name} as claim ${target.namespace}/${target.name}`;
  if (state.kind === 'bound') return stays(`it completes: ${what} is bound`);
  const unservedNote = isUnserved(request, now) ? '; no provisioner responds' : '';
  return stays(`unfinished: ${what} is not bound yet${unservedNote}`);
}
