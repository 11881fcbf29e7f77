// The forecast for checkpoint requests: the progress of unfinished ones and, where the annotation sets a TTL, when
// finished ones are deleted.

import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { AnnotationKeyManifestTTL } from '#api/stateSnapshotter/conditions';
import { checkpointName } from '#checkpoint/names';
import { parseRequestTtl } from '#requests/configuration';
import type { RequestRules } from '#requests/rules';
import { hasEnded } from '#requests/terminal';
import { type Forecaster, isServed, nameOf, type Snapshot, type Statement } from '../forecaster.ts';
import { eachRequest, statementOnTtl } from '../forecastRequests.ts';
import { computeCheckpointEnd } from './decide.ts';

export const forecastManifestCaptures: Forecaster = {
  async *forecast(forecastContext) {
    const rules: RequestRules<ManifestCaptureRequest> = {
      kind: ManifestCaptureRequest,
      annotationKey: AnnotationKeyManifestTTL,
      ttl: parseRequestTtl(forecastContext.configuration.requestTTL),
    };
    for await (const request of eachRequest(forecastContext, rules)) {
      if (!hasEnded(request)) yield await statementOnWork(request, forecastContext.snapshot);
      else if (rules.ttl.mode === 'annotation') yield statementOnTtl(request, rules, forecastContext);
    }
  },
};

async function statementOnWork(request: ManifestCaptureRequest, snapshot: Snapshot): Promise<Statement> {
  const about = { object: nameOf(ManifestCaptureRequest, request), rule: 'spec.targets' };
  const stays = (because: string): Statement => ({ kind: 'kept', ...about, because, reason: 'Unfinished' });
  const name = checkpointName(request.metadata.uid ?? '');
  const all = isServed(snapshot, ManifestCheckpoint) ? await snapshot.list({ kind: ManifestCheckpoint }) : [];
  const checkpoint = all.find(({ metadata }) => metadata.name === name);
  if (checkpoint === undefined) return stays('unfinished: its checkpoint does not exist yet');
  const end = computeCheckpointEnd(checkpoint);
  if (end === undefined) return stays(`unfinished: the checkpoint ${name} is being written`);
  return end.ready
    ? stays(`it completes: the checkpoint ${name} is complete`)
    : stays(`it fails (${end.reason}): ${end.message}`);
}
