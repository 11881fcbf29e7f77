// Finished PipelineRuns under several policies that select by label: the longest TTL wins. Some change their labels,
// into and out of policies, and some their annotation.

import { formatTime, type Instant, millis, parseTime, plus, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { composeFamilies, findFamily } from '../scenarios/compose.ts';
import { PipelineRun, PipelineRunKind, ttlPolicy } from '../scenarios/pipelineRuns.ts';
import type { Subject } from './subject.ts';

const TTL = 'lapse.dev/ttl';
/** All match the first policy; the label `tier` selects the others. */
const TIERS = { short: 10, middle: 45, long: 120 } as const;
type Tier = keyof typeof TIERS;

const policies = (Object.entries(TIERS) as [Tier, number][]).map(([tier, length]) =>
  ttlPolicy(tier, {
    ttl: `${length}s`,
    allowOverrides: true,
    ...(tier === 'short' ? {} : { selector: { matchLabels: { tier } } }),
  }),
);

interface Run extends KubeObject {
  readonly status?: { readonly completionTime?: string };
}

const finishOf = ({ status }: Run): Instant | undefined =>
  status?.completionTime === undefined ? undefined : parseTime(status.completionTime);

/** Half of the names change by annotation. */
const isAnnotated = (name: string): boolean => ['c', 'd', 'y', 'z'].includes(name);

const lengthOf = ({ metadata }: KubeObject): number => {
  const own = metadata.annotations?.[TTL];
  return own === undefined
    ? TIERS[(metadata.labels?.['tier'] as Tier | undefined) ?? 'short']
    : Number.parseInt(own, 10);
};

/** The policy with at least this TTL, or the longest. */
const tierFor = (length: number): Tier =>
  (Object.keys(TIERS) as Tier[]).find((tier) => TIERS[tier] >= length) ?? 'long';

const family = findFamily('ttl-policy');

export const policyTargets: Subject = {
  name: 'ttl-policy',
  kind: PipelineRun,
  resource: 'pipelineruns',
  saves: true,
  kinds: [...family.kinds, PipelineRunKind],
  objects: policies,
  compose: composeFamilies({
    families: [family],
    controllers: [],
    configuration: { actAs: 'controller', trash: {} },
    gates: {},
  }),
  create: (name, ends) => ({
    apiVersion: 'tekton.dev/v1',
    kind: 'PipelineRun',
    metadata: { name, namespace: 'default' },
    spec: {},
    status: { completionTime: formatTime(plus(ends, millis(-seconds(TIERS.short)))) },
  }),
  moveEnd: (object, ends) => {
    const length = Math.max(0, Math.ceil((ends - finishOf(object as Run)!) / 1000));
    return {
      metadata: isAnnotated(object.metadata.name!)
        ? { annotations: { [TTL]: `${length}s` } }
        : { labels: { tier: tierFor(length) } },
    };
  },
  deadlineOf: (object) => {
    const finish = finishOf(object as Run);
    return finish === undefined ? undefined : plus(finish, seconds(lengthOf(object)));
  },
  isTerminal: (object) => finishOf(object as Run) !== undefined,
};
