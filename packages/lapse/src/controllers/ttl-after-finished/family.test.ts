import { readFileSync } from 'node:fs';
import { silentLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import { rightsOf } from '@lapse/runtime/definition';
import { Registry } from '@lapse/runtime/metrics/registry';
import { describe, expect, test } from 'vitest';
import { trustedTime } from '#deletion/skewGuard';
import { compileConfiguration } from '#manager/configuration/schema';
import type { Services } from '../family.ts';
import { FAMILIES } from '../registry.ts';
import { ttlAfterFinishedFamily } from './family.ts';

const clock = new VirtualClock();
const services = (gates: Record<string, boolean>, more: Partial<Services> = {}): Services =>
  ({
    clock,
    registry: new Registry(),
    log: silentLog,
    guard: trustedTime(clock),
    isEnabled: (gate: string) =>
      gates[gate] ?? ttlAfterFinishedFamily.gates.find(({ name }) => name === gate)!.default,
    ...more,
  }) as Services;

const configured = (given: object) => {
  const { document } = compileConfiguration([ttlAfterFinishedFamily]).complete({
    ttlAfterFinished: given as never,
  });
  return { ttlAfterFinished: document.ttlAfterFinished as never };
};
const problems = (given: object) =>
  compileConfiguration([ttlAfterFinishedFamily])
    .check({ ttlAfterFinished: given as never })
    .map(({ field, message }) => `${field}: ${message}`);

describe("upstream's cases about options and names", () => {
  test('15. the controllers get the configured or the default number of workers', () => {
    const made = (given: object) =>
      ttlAfterFinishedFamily
        .create(services({ TTLAfterFinishedPods: true }), configured(given))
        .controllers.map(({ concurrency }) => concurrency);
    expect(made({ concurrency: 8 })).toEqual([8, 8]);
    expect(made({})).toEqual([32, 32]);
  });

  test('16. the controllers have the expected names and RBAC rules', () => {
    expect(FAMILIES).toContain(ttlAfterFinishedFamily);
    const { controllers } = ttlAfterFinishedFamily.create(
      services({ TTLAfterFinishedPods: true }),
      configured({}),
    );
    expect(
      controllers.map((controller) => [controller.name, controller.queue, rightsOf(controller)]),
    ).toEqual([
      [
        'ttl-after-finished',
        'ttl_jobs_to_delete',
        [{ group: 'batch', resource: 'jobs', verbs: ['delete', 'get', 'list', 'watch'] }],
      ],
      [
        'ttl-after-finished-pods',
        'ttl_pods_to_delete',
        [{ group: '', resource: 'pods', verbs: ['delete', 'get', 'list', 'watch'] }],
      ],
    ]);
  });
});

describe('gates', () => {
  test.each([
    [{}, ['ttl-after-finished']],
    [{ TTLAfterFinished: false }, []],
    [{ TTLAfterFinishedPods: true }, ['ttl-after-finished', 'ttl-after-finished-pods']],
    [{ TTLAfterFinished: false, TTLAfterFinishedPods: true }, ['ttl-after-finished-pods']],
  ])('%j select the controllers %j', (gates, names) => {
    const { controllers } = ttlAfterFinishedFamily.create(services(gates), configured({}));
    expect(controllers.map(({ name }) => name)).toEqual(names);
  });
});

test('with a namespace, only that namespace is watched', () => {
  const { controllers } = ttlAfterFinishedFamily.create(services({}, { namespace: 'ci' }), configured({}));
  expect(controllers.map(({ namespace }) => namespace)).toEqual(['ci']);
});

describe('configuration', () => {
  test.each([
    [{ concurrency: 0 }, 'greater than or equal to 1'],
    [{ concurrency: -5 }, 'greater than or equal to 1'],
    [{ concurrency: 1.5 }, 'integer'],
    [{ concurrency: 100_000 }, 'less than or equal to 1000'],
    [{ jobPropagation: 'Sideways' }, 'Unsupported value'],
    [{ jobDeletionEvents: 'yes' }, 'boolean'],
    [{ unknown: 1 }, 'unknown'],
  ])('is refused: %j', (given, message) => expect(problems(given).join()).toContain(message));

  test('is accepted with valid values', () =>
    expect(problems({ concurrency: 1, jobPropagation: 'Orphan' })).toEqual([]));
});

test('every documented metric exists from the start', () => {
  const guide = readFileSync(
    new URL('../../../../../docs/operations/production-readiness.md', import.meta.url),
    'utf8',
  );
  const named = new Set(
    guide
      .match(/\b(lapse_ttl|ttl_after_finished_controller)_[a-z_]+[a-z]/g)
      ?.map((name) => name.replace(/_(bucket|count|sum)$/, '')),
  );
  const given = services({ TTLAfterFinishedPods: true });
  ttlAfterFinishedFamily.create(given, configured({}));
  const text = given.registry.text();
  expect(text).toContain('lapse_ttl_skipped_total{kind="Pod",because="owned by a Job"} 0');
  expect(text).toContain('lapse_ttl_skipped_total{kind="Job",because="finish time unknown"} 0');
  expect(named.size).toBeGreaterThan(8);
  expect([...named].filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
});
