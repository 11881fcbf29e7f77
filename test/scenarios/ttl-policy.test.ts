// Policies about PipelineRuns, played on the virtual clock.

import { describe, expect } from 'vitest';
import type { TTLPolicyStatus } from '#api/kinds/ttlPolicy';
import type { KubeObject } from '#api/object';
import { minutes, seconds } from '#base/instant';
import { clusterTtlPolicy, namespace, PipelineRunKind, run, runStatus, ttlPolicy } from './pipelineRuns.ts';
import { scenario } from './scenario.ts';
import type { Given, Then } from './words.ts';

interface Policy extends KubeObject {
  status?: TTLPolicyStatus;
}
const start = (given: Given, more: object = {}) => {
  given.controllers('ttl-policy');
  given.configuration({ actAs: 'controller', ...more });
  given.kinds(PipelineRunKind);
};
const statusOf = async (then: Then, ref: string): Promise<TTLPolicyStatus> =>
  (await then.object<Policy>(ref)).status ?? {};
const readyOf = async (then: Then, ref: string): Promise<string> => {
  const [ready] = (await statusOf(then, ref)).conditions ?? [];
  return `${ready?.status} ${ready?.reason}`;
};
const deletes = (then: Then) => then.requests('DELETE').map(({ path }) => path.split('/').at(-1));

describe('the ordinary case', () => {
  scenario(
    'a finished run ends on time, by one request; a running one stays',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('done', { finished: seconds(0) }), run('running')]);
      await when.timePasses((minutes(10) - 1) as never);
      await then.exists('pipelinerun/done');
      await when.timePasses(1 as never);
      await then.isGone('pipelinerun/done');
      await then.exists('pipelinerun/running');
      expect(deletes(then)).toEqual(['done']);
      await when.timePasses(minutes(1));
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({
        matched: 1,
        waiting: 0,
        due: 0,
        deleted: 1,
        errors: 0,
        observedGeneration: 1,
      });
      expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
      const [event] = await then.events('pipelinerun/done');
      expect(event).toMatchObject({
        reason: 'Deleted',
        note: expect.stringMatching(
          /^TTLPolicy default\/runs: finished .*TTL 10m0s .*deleted 0.0 s after its deadline by TTLPolicy default\/runs$/,
        ),
      });
    },
  );
});
