// The forecast for capture requests: what unfinished ones wait for and, where the annotation sets a TTL, when
// finished ones are deleted.

import type { Instant, Millis } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { VolumeSnapshot, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { AnnotationKeyTTL, Reason } from '#api/storage/conditions';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { parseRequestTtl, parseTimeout } from '#requests/configuration';
import { snapshotName } from '#requests/names';
import { failure, isFailure } from '#requests/refusal';
import type { RequestRules } from '#requests/rules';
import { hasEnded } from '#requests/terminal';
import { type Forecaster, isServed, nameOf, type Snapshot, type Statement } from '../forecaster.ts';
import { eachRequest, statementOnTtl } from '../forecastRequests.ts';
import { claimText, computeClaimKey, type SnapshotVia } from './decide.ts';
import { type Artifact, computeProgress, timeoutOf } from './decideSnapshot.ts';
import { parseVia } from './policy.ts';

export const forecastCaptures: Forecaster = {
  async *forecast(forecastContext) {
    const { snapshot, configuration } = forecastContext;
    const rules: RequestRules<VolumeCaptureRequest> = {
      kind: VolumeCaptureRequest,
      annotationKey: AnnotationKeyTTL,
      ttl: parseRequestTtl(configuration.requestTTL),
    };
    const allowElsewhere = configuration.capture?.allowCrossNamespace === true;
    const timeout = parseTimeout('capture.timeout', configuration.capture?.timeout);
    let artifacts: ReadonlyMap<string, Artifact> | undefined;
    for await (const request of eachRequest(forecastContext, rules)) {
      if (hasEnded(request)) {
        if (rules.ttl.mode === 'annotation') yield statementOnTtl(request, rules, forecastContext);
        continue;
      }
      artifacts ??= await readArtifacts(snapshot, parseVia(configuration.snapshot));
      yield statementOnWork(request, artifacts, { allowElsewhere, timeout, now: forecastContext.now });
    }
  },
};

async function readArtifacts(snapshot: Snapshot, via: SnapshotVia): Promise<ReadonlyMap<string, Artifact>> {
  const kind = (via === 'VolumeSnapshot' ? VolumeSnapshot : VolumeSnapshotContent) as Kind<Artifact>;
  if (!isServed(snapshot, kind)) return new Map();
  const found = await snapshot.list({ kind });
  return new Map(found.map((artifact) => [artifact.metadata.name ?? '', artifact]));
}

function statementOnWork(
  request: VolumeCaptureRequest,
  artifacts: ReadonlyMap<string, Artifact>,
  { allowElsewhere, timeout, now }: { allowElsewhere: boolean; timeout: Millis; now: Instant },
): Statement {
  const { mode } = request.spec ?? {};
  const about = { object: nameOf(VolumeCaptureRequest, request), rule: `spec.mode ${mode}` };
  const stays = (because: string): Statement => ({ kind: 'kept', ...about, because, reason: 'Unfinished' });
  const claim =
    mode === 'Snapshot' || mode === 'Detach'
      ? computeClaimKey(request, allowElsewhere)
      : failure(Reason.InvalidMode, `spec.mode ${mode} is neither Snapshot nor Detach`);
  if (isFailure(claim)) return stays(`it fails (${claim.reason}): ${claim.message}`);
  const name = claimText(claim);
  if (mode === 'Detach')
    return stays(
      `unfinished: it detaches the volume of claim ${name}, and deletes the claim, once no Pod uses it`,
    );
  const artifact = artifacts.get(snapshotName(request.metadata.uid ?? ''));
  if (artifact === undefined) return stays(`unfinished: the snapshot of claim ${name} does not exist yet`);
  const progress = computeProgress(artifact, { claim: name, timeout: timeoutOf(request, timeout), now });
  if (progress.kind === 'retrying') return stays(`unfinished: ${progress.error}`);
  if (isFailure(progress)) return stays(`it fails (${progress.reason}): ${progress.message}`);
  return stays(
    progress.kind === 'ready'
      ? `it completes: the snapshot of claim ${name} is ready`
      : `unfinished: the storage system is taking the snapshot of claim ${name}`,
  );
}
