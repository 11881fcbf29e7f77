// For tests: a cluster whose permissions a function decides, and policies with generated authors.

import { seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import type { AdmissionRequest, AdmissionResponse } from '@lapse/runtime/host/review';
import { simulate } from '@lapse/simulation/simulate';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import type { Need, Subject } from '#authors/accessReview';
import { AuthorSeal } from '#authors/authorSeal';
import { trustedTime } from '#deletion/skewGuard';
import { PipelineRunKind, run } from '../../../../../test/scenarios/pipelineRuns.ts';
import type { Services } from '../family.ts';
import { type AdmissionOptions, policyAuthor, policyRules } from './admission.ts';
import { ttlPolicyFamily } from './family.ts';

/** Whether a user has a permission. `self`: the controller. */
export type Law = (who: string, need: Need) => boolean;

/** The same client, with reviews answered by `law`. */
export function underLaw(client: Client, law: () => Law, asked: string[] = []): Client {
  return {
    ...client,
    get discovery() {
      return client.discovery;
    },
    create: async (kind, object, options) => {
      if (!/accessreviews$/.test(kind.resource)) return client.create(kind, object, options);
      const { user, resourceAttributes } = (object as KubeObject)['spec'] as {
        user?: string;
        resourceAttributes: Need;
      };
      const who = user ?? 'self';
      asked.push(`${who} ${resourceAttributes.verb} ${resourceAttributes.resource}`);
      return {
        kind: 'created',
        object: { ...object, status: { allowed: law()(who, resourceAttributes) } },
      } as never;
    },
  };
}

const CONFIGURATION = {
  concurrency: 4,
  deletionEvents: true,
  impersonation: 'cluster',
  authorKeySecret: { namespace: 'default', name: 'lapse-author-key' },
};

/** The family without its admission functions, as if the webhook were missing. */
export async function lawfulCluster(actAs: 'author' | 'controller' = 'author') {
  const state = { law: (() => true) as Law, asked: [] as string[], impersonated: [] as string[] };
  const simulation = await simulate({
    kinds: [...ttlPolicyFamily.kinds, PipelineRunKind],
    compose: ({ clock, random, client, registry, log, clientAs }) => {
      const services: Services = {
        clock,
        random,
        registry,
        log,
        guard: trustedTime(clock),
        client: underLaw(client, () => state.law, state.asked),
        impersonate: ({ namespace, name }) => {
          state.impersonated.push(`${namespace}/${name}`);
          return clientAs({ user: `system:serviceaccount:${namespace}:${name}` });
        },
        actAs,
        isEnabled: () => true,
      };
      return {
        controllers: ttlPolicyFamily.create(services, { ttlPolicy: CONFIGURATION as never }).controllers,
      };
    },
  });
  const seal = new AuthorSeal({
    client: simulation.user,
    random: { next: () => 0, bytes: (n) => new Uint8Array(n).fill(7) },
    clock: simulation.clock,
    now: () => simulation.clock.now(),
    secret: CONFIGURATION.authorKeySecret,
  });
  const options: AdmissionOptions = {
    client: simulation.user,
    actAs,
    seal,
    impersonation: { kind: 'cluster' },
  };
  return {
    state,
    simulation,
    seal,
    by: (author: string, policy: KubeObject) => signed(options, author, policy),
  };
}

export const request = (
  object: KubeObject,
  username: string,
  more: Partial<AdmissionRequest> = {},
): AdmissionRequest => ({
  uid: 'r1',
  kind: { group: 'lapse.dev', version: 'v1alpha1', kind: object.kind },
  resource: { group: 'lapse.dev', version: 'v1alpha1', resource: 'ttlpolicies' },
  name: object.metadata.name ?? '',
  operation: 'CREATE',
  userInfo: { username, groups: ['system:authenticated'] },
  object,
  oldObject: null,
  dryRun: false,
  ...more,
});

/** The policy after the mutating admission function. */
async function signed(options: AdmissionOptions, author: string, policy: KubeObject): Promise<KubeObject> {
  const answer = await policyAuthor(options).review(request(policy, author));
  if (!answer.allowed || answer.object === undefined) throw new Error(JSON.stringify(answer));
  return answer.object;
}

export const review = (
  options: AdmissionOptions,
  object: KubeObject,
  author: Subject['username'],
  more: Partial<AdmissionRequest> = {},
): Promise<AdmissionResponse> | AdmissionResponse =>
  policyRules(options).review(request(object, author, more));

export const statusOf = async (
  get: (ref: string) => Promise<KubeObject | undefined>,
): Promise<TTLPolicyStatus> => ((await get('ttlpolicy/runs')) as { status?: TTLPolicyStatus }).status ?? {};

/** Runs a scenario in a cluster with a finished run. `readState`: the Ready condition, and whether the run exists. */
export async function inCluster(
  actAs: 'author' | 'controller',
  scenario: (
    cluster: Awaited<ReturnType<typeof lawfulCluster>> & { readState(): Promise<string> },
  ) => Promise<void>,
): Promise<void> {
  const cluster = await lawfulCluster(actAs);
  const { simulation } = cluster;
  const readState = async () => {
    await simulation.settle();
    const [ready] = (await statusOf((ref) => simulation.get(ref))).conditions ?? [];
    const exists = (await simulation.get('pipelinerun/a')) !== undefined;
    return `${ready?.status} ${ready?.reason} ${exists ? 'kept' : 'gone'}`;
  };
  try {
    await simulation.apply(run('a', { finished: seconds(0) }));
    await scenario({ ...cluster, readState });
  } finally {
    await simulation.close();
  }
}
