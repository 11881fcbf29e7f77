import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { describe, expect, test } from 'vitest';
import { TTLPolicy, type TTLPolicySpec, type TTLPolicyStatus } from '#api/ttlPolicy';
import type { ForecastContext, Statement } from '../forecaster.ts';
import type { AnyPolicy } from './compile.ts';
import { applyLimits } from './forecastLimits.ts';
import type { Assessed, ReadyPolicy } from './forecastPolicies.ts';
import { at, compiled, policy, time } from './policy.testkit.ts';

const ENFORCED: TTLPolicyStatus = { enforcedGeneration: 1 };

function assessed(spec: Partial<TTLPolicySpec>, status: TTLPolicyStatus, annotations = {}): Assessed {
  return {
    policy: { ...policy(spec, { generation: 1, uid: 'p', annotations }), status },
    of: TTLPolicy as Kind<AnyPolicy>,
    standing: 'ready',
    rule: 'TTLPolicy ci/runs',
    because: '',
    ready: compiled(spec) as ReadyPolicy,
  };
}

async function forecast(
  one: Assessed,
  seconds: readonly number[],
  limits: JsonObject = { firstActivation: 5 },
): Promise<{ deleted: number[]; held: number; policy: string | undefined }> {
  const context = {
    now: at(0),
    actAs: 'controller',
    configuration: { limits },
  } as unknown as ForecastContext;
  async function* given(): AsyncGenerator<Statement> {
    for (const [i, second] of seconds.entries()) {
      const object = {
        apiVersion: 'tekton.dev/v1',
        kind: 'PipelineRun',
        namespace: 'ci',
        name: `r${i}`,
        uid: `u${i}`,
      };
      yield { kind: 'deleted', object, rule: 'TTLPolicy ci/runs', at: at(second), because: 'expired' };
    }
  }
  const statements: Statement[] = [];
  for await (const statement of applyLimits(context, [one], given())) statements.push(statement);
  const held = statements.filter(({ kind, reason }) => kind === 'held' && reason === 'LimitExceeded');
  const about = held.find(({ object }) => object.kind === 'TTLPolicy');
  return {
    deleted: statements.flatMap((one) => (one.kind === 'deleted' ? [(one.at - at(0)) / 1000] : [])),
    held: held.length - (about === undefined ? 0 : 1),
    policy: about?.because,
  };
}

const limited = { limits: { maxDeletions: 2, per: '1h' } };

describe('applyLimits', () => {
  test('shows where a policy will stop, in the order of the deadlines', async () => {
    const found = await forecast(assessed(limited, ENFORCED), [30, 10, 20, 40]);
    expect(found).toMatchObject({ deleted: [10, 20], held: 2 });
    expect(found.policy).toBe(
      `the policy will be stopped at its limit: 2 deletions, spec.limits.maxDeletions allows 2 per 1h (since ${time(10)}); 1 more object is due; nothing is deleted before: lapse approve ttlpolicy/runs -n ci`,
    );
  });
  test('a new window begins in time', async () => {
    const found = await forecast(assessed(limited, ENFORCED), [0, 1, 3600, 3601]);
    expect(found).toEqual({ deleted: [0, 1, 3600, 3601], held: 0, policy: undefined });
  });
  test('deletions of the current window count', async () => {
    const windows = [{ from: 'spec' as const, startedAt: time(-60), selected: 9, deletions: 1 }];
    expect(await forecast(assessed(limited, { ...ENFORCED, limits: { windows } }), [1, 2])).toMatchObject({
      deleted: [1],
      held: 1,
    });
  });
  test('a policy that is stopped deletes nothing, and an approval lets it go on', async () => {
    const exceeded = {
      limit: 'maxDeletions',
      from: 'spec',
      allowed: 2,
      deletions: 2,
      due: 2,
      at: time(-9),
      generation: 1,
    };
    const status = { ...ENFORCED, limits: { state: 'Exceeded', exceeded } } as TTLPolicyStatus;
    const found = await forecast(assessed(limited, status), [-1, 0]);
    expect(found).toMatchObject({ deleted: [], held: 2 });
    expect(found.policy).toContain('the policy is stopped at its limit');
    const approval = { 'lapse.dev/approved-deletions': '{"generation":1,"deletions":2}' };
    expect(await forecast(assessed(limited, status, approval), [-1, 0])).toMatchObject({ deleted: [-1, 0] });
  });
  test('more due objects than firstActivation: the policy starts stopped', async () => {
    const found = await forecast(assessed({}, {}), [0, 0, 0, 0, 0, 0, 50]);
    expect(found).toMatchObject({ deleted: [], held: 7 });
    expect(found.policy).toContain('6 objects are due, and limits.firstActivation');
    expect(await forecast(assessed({}, {}), [0, 0, 0, 0, 0, 50])).toMatchObject({ held: 0 });
    expect(await forecast(assessed({}, ENFORCED), [0, 0, 0, 0, 0, 0])).toMatchObject({ held: 0 });
  });
  test('a policy in DryRun shows that it would start stopped', async () => {
    const context = {
      now: at(0),
      configuration: { limits: { firstActivation: 1 } },
    } as unknown as ForecastContext;
    const object = { apiVersion: 'tekton.dev/v1', kind: 'PipelineRun', name: 'r', uid: 'u' };
    async function* held(count: number): AsyncGenerator<Statement> {
      for (let i = 0; i < count; i++)
        yield {
          kind: 'held',
          object,
          rule: 'TTLPolicy ci/runs',
          because: '',
          reason: 'DryRun',
          until: at(0),
        };
    }
    const dry = assessed({ mode: 'DryRun' }, {});
    const reasonsOf = async (count: number) =>
      (await Array.fromAsync(applyLimits(context, [dry], held(count)))).map(({ reason }) => reason);
    expect(await reasonsOf(1)).toEqual(['DryRun']);
    expect(await reasonsOf(2)).toEqual(['DryRun', 'DryRun', 'LimitExceeded']);
  });
  test('a policy in DryRun has no limits', async () => {
    const dry = assessed({ ...limited, mode: 'DryRun' }, {});
    expect(await forecast(dry, [0, 0, 0])).toMatchObject({ held: 0 });
  });
});
