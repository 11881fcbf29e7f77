// Plans for tests: any number of deletions, spread over a week, with names that contain markup.

import { type Instant, instant } from '@lapse/base/instant';
import type { Held, Plan, PlannedDeletion } from '#forecast/plan';

export const MADE = Date.UTC(2026, 10, 16, 6, 30);
const HOUR = 3_600_000;
export const at = (hours: number): Instant => instant(MADE + hours * HOUR);

export const end = (name: string, hours: number, more: Partial<PlannedDeletion> = {}): PlannedDeletion => ({
  at: at(hours),
  object: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'ci', name, uid: `uid-${name}` },
  family: 'ttl-after-finished',
  rule: 'spec.ttlSecondsAfterFinished',
  because: `${name} finished an hour ago and has a TTL.`,
  propagation: 'Background',
  dependents: [],
  moreDependents: 0,
  ...more,
});

export const held = (name: string, more: Partial<Held> = {}): Held => ({
  object: { apiVersion: 'v1', kind: 'Pod', namespace: 'ci', name, uid: `uid-${name}` },
  family: 'ttl-after-finished',
  rule: 'metadata.annotations',
  because: `A finalizer holds ${name}.`,
  ...more,
});

export const plan = (deletions: readonly PlannedDeletion[], more: Partial<Plan> = {}): Plan => ({
  made: instant(MADE),
  until: at(7 * 24),
  cluster: 'test',
  deletions,
  held: [],
  more: 0,
  ...more,
});

const KINDS = [
  ['batch/v1', 'Job'],
  ['v1', 'Pod'],
  ['tekton.dev/v1', 'PipelineRun'],
  ['v1', 'Namespace'],
] as const;

/** Deterministic. */
export const manyEnds = (count: number): Plan =>
  plan(
    Array.from({ length: count }, (_, index) => {
      const [apiVersion, kind] = KINDS[index % KINDS.length]!;
      const object = {
        apiVersion,
        kind,
        namespace: `team-${index % 23}`,
        name: `run-${index}`,
        uid: `u${index}`,
      };
      return end(`run-${index}`, -5 + ((index * 7919) % 16_800) / 100, { object });
    }),
  );

export const HOSTILE = [
  '</script><script>window.owned=1</script>',
  '<!--<script>',
  ']]><img src=x onerror="window.owned=1">',
  `"'\`\${window.owned=1}`,
  '\u202Egnp.exe\u202C',
  'שלום-עולם',
  '👩‍💻-🚀',
  'a\u0000b\u001b[31m\ud800',
  `long-${'x'.repeat(5000)}`,
  '__proto__',
];

/** Every string contains markup. */
export const hostilePlan = (): Plan =>
  plan(
    HOSTILE.map((name, index) =>
      end(name, index + 1, {
        object: { apiVersion: name, kind: name, namespace: name, name, uid: name },
        rule: name,
        family: name,
        because: name,
        dependents: [
          { object: { apiVersion: 'v1', kind: name, namespace: name, name, uid: name }, depth: 1 },
        ],
      }),
    ),
    { cluster: HOSTILE.join(' '), held: HOSTILE.map((name) => held(name, { because: name, rule: name })) },
  );
