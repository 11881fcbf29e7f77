// What the admission policies for Pods with a TTL refuse and admit: one table, run on the embedded server and on a real
// one.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { policyObjects } from 'lapse/cli/manifests/policies';
import { POD_POLICIES } from 'lapse/controllers/ttl-after-finished/admission';
import type { Ask } from '../../conformance/model/ask.ts';

const TTL = 'lapse.dev/ttl-seconds-after-finished';
const ASKS = { [TTL]: '60' };
const NAMESPACE = 'pod-policies';
const LABELS = { app: 'x' };

/** A kind that the policies match. */
interface Subject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly resource: string;
  /** From the object to the metadata with the annotation. */
  readonly path: readonly string[];
  readonly message: string;
  spec(template: JsonObject): JsonObject;
  /** A controller creates such objects from templates. */
  readonly isMade: boolean;
}

const NEEDS = `${TTL} needs a restartPolicy of OnFailure or Never`;
const TEMPLATE = ['spec', 'template'];
const workload = (kind: string, more: JsonObject = {}): Subject => ({
  kind,
  apiVersion: 'apps/v1',
  resource: `${kind.toLowerCase()}s`,
  path: TEMPLATE,
  message: NEEDS,
  isMade: true,
  spec: (template) => ({ selector: { matchLabels: LABELS }, template, ...more }),
});
// The template of a Job may change only while it is suspended.
const job = (template: JsonObject): JsonObject => ({ suspend: true, template });

const SUBJECTS: readonly Subject[] = [
  {
    kind: 'Pod',
    apiVersion: 'v1',
    resource: 'pods',
    path: [],
    message: NEEDS,
    isMade: true,
    spec: ({ spec }) => spec as JsonObject,
  },
  {
    kind: 'Job',
    apiVersion: 'batch/v1',
    resource: 'jobs',
    path: TEMPLATE,
    message: `${TTL} may not be set on the Pods of a Job; set spec.ttlSecondsAfterFinished instead`,
    isMade: true,
    spec: job,
  },
  {
    kind: 'CronJob',
    apiVersion: 'batch/v1',
    resource: 'cronjobs',
    path: ['spec', 'jobTemplate', ...TEMPLATE],
    message: `${TTL} may not be set on the Pods of a CronJob's Jobs; set spec.jobTemplate.spec.ttlSecondsAfterFinished instead`,
    isMade: false,
    spec: (template) => ({ schedule: '0 0 * * *', jobTemplate: { spec: job(template) } }),
  },
  workload('Deployment'),
  workload('ReplicaSet'),
  workload('StatefulSet', { serviceName: 'x' }),
  workload('DaemonSet'),
];

interface Row {
  readonly name: string;
  readonly subject: Subject;
  /** Created before the policies; the change is a merge patch to it. */
  readonly before?: JsonObject;
  readonly sent: JsonObject;
  readonly refused: boolean;
}

interface Look {
  readonly annotations?: JsonObject;
  readonly owner?: 'controller' | 'other';
  readonly restartPolicy?: string;
}

function build(subject: Subject, name: string, { annotations = {}, owner, restartPolicy }: Look): JsonObject {
  const { kind, apiVersion, path, resource } = subject;
  const usual = apiVersion === 'batch/v1' ? 'Never' : 'Always';
  const template = {
    metadata: { labels: LABELS, annotations },
    spec: {
      restartPolicy: restartPolicy ?? usual,
      containers: [{ name: 'main', image: 'example.com/x' }],
    },
  };
  const uid = '6a1b1e0c-0000-4000-8000-000000000001';
  const older = { apiVersion: 'v1', kind: 'Older', name: 'older', uid, controller: owner === 'controller' };
  return {
    apiVersion,
    kind,
    metadata: {
      name: `${resource}-${name}`,
      ...(path.length === 0 ? { annotations } : {}),
      ...(owner === undefined ? {} : { ownerReferences: [older] }),
    },
    spec: subject.spec(template),
  };
}

/** A merge patch of the annotation; null removes it. */
const patchOf = ({ path }: Subject, value: Json): JsonObject =>
  path.reduceRight<JsonObject>((inner, key) => ({ [key]: inner }), {
    metadata: { annotations: { [TTL]: value } },
  });

function rowsOf(subject: Subject): Row[] {
  const created = (name: string, look: Look, refused: boolean): Row => {
    const sent = build(subject, name, look);
    return { name: `${subject.kind}: created ${name}`, subject, sent, refused };
  };
  const updated = (name: string, annotations: JsonObject, sent: JsonObject, refused: boolean): Row => {
    const before = build(subject, name, { annotations });
    return { name: `${subject.kind}: updated ${name}`, subject, before, sent, refused };
  };
  return [
    created('without-it', {}, false),
    created('with-others', { annotations: { other: 'x' } }, false),
    created('with-it', { annotations: ASKS }, true),
    created('by-controller', { annotations: ASKS, owner: 'controller' }, !subject.isMade),
    created('with-owner', { annotations: ASKS, owner: 'other' }, true),
    updated('added', {}, patchOf(subject, '60'), true),
    updated('kept', ASKS, { metadata: { labels: { touched: 'yes' } } }, false),
    updated('changed', ASKS, patchOf(subject, '90'), false),
    updated('removed', ASKS, patchOf(subject, null), false),
  ];
}

const finishing = (restartPolicy: string): Row => {
  const subject = SUBJECTS[0]!;
  const sent = build(subject, restartPolicy.toLowerCase(), { annotations: ASKS, restartPolicy });
  return { name: `Pod: created with restartPolicy ${restartPolicy}`, subject, sent, refused: false };
};

const ROWS: readonly Row[] = [...SUBJECTS.flatMap(rowsOf), finishing('OnFailure'), finishing('Never')];

/** By row: `admitted`, or the message of the refusal. */
export type Outcomes = Readonly<Record<string, string>>;

export const EXPECTED: Outcomes = Object.fromEntries(
  ROWS.map(({ name, subject, refused }) => [name, refused ? subject.message : 'admitted']),
);

const collectionOf = ({ apiVersion, resource }: Subject): string =>
  `/${apiVersion === 'v1' ? 'api' : 'apis'}/${apiVersion}/namespaces/${NAMESPACE}/${resource}`;

async function run(ask: Ask, { subject, before, sent }: Row): Promise<string> {
  const path = collectionOf(subject);
  const { status, body } = before
    ? await ask(
        'PATCH',
        `${path}/${(before['metadata'] as JsonObject)['name']}?dryRun=All`,
        sent,
        'application/merge-patch+json',
      )
    : await ask('POST', `${path}?dryRun=All`, sent);
  if (status < 300) return 'admitted';
  const { message } = body as { message: string };
  return message.replace(/^.* denied request: /, '');
}

/** Creates the existing objects, installs the policies, waits until they are enforced, and runs every row. */
export async function runPodPolicies(ask: Ask): Promise<Outcomes> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
  await ask('POST', '/api/v1/namespaces', namespace);
  for (const { subject, before, name } of ROWS) {
    const answer = before && (await ask('POST', collectionOf(subject), before));
    if (answer && answer.status >= 300) throw new Error(`${name}: ${JSON.stringify(answer.body)}`);
  }
  for (const policy of POD_POLICIES)
    for (const object of policyObjects(policy, { name: policy.name })) {
      const resource = object.kind!.toLowerCase().replace(/y$/, 'ies').replace(/g$/, 'gs');
      const path = `/apis/admissionregistration.k8s.io/v1/${resource}`;
      const { status, body } = await ask('POST', path, object as unknown as JsonObject);
      if (status !== 201) throw new Error(JSON.stringify(body));
    }
  await untilEnforced(ask);
  const outcomes: Record<string, string> = {};
  for (const row of ROWS) outcomes[row.name] = await run(ask, row);
  return outcomes;
}

/** The last policy is enforced when it refuses a Pod; the others were created before it. */
async function untilEnforced(ask: Ask): Promise<void> {
  const probe = ROWS.find(({ name, refused }) => refused && name.startsWith('Pod:'))!;
  for (let i = 0; i < 200; i++) {
    if ((await run(ask, probe)) !== 'admitted') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the policies are never enforced');
}
