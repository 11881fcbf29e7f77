// The policies in config/admission-policy, evaluated by our own CEL engine; the kube round asks a real API server.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { compile, DYN, kubernetesEnvironment } from '#cel/cel';

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly { readonly expression: string }[];
    readonly policyName?: string;
  };
}

function policyIn(file: string): Policy {
  const path = new URL(`../../../config/admission-policy/${file}.yaml`, import.meta.url);
  const [policy, binding] = parseAllDocuments(readFileSync(path, 'utf8')).map((d) => d.toJS() as Policy);
  expect(binding).toMatchObject({
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: policy!.metadata.name },
  });
  return policy!;
}

const env = kubernetesEnvironment({ variables: { object: DYN, oldObject: DYN, variables: DYN } });

function evaluate(text: string, bindings: object): unknown {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  const outcome = compiled.program.evaluate(bindings as never);
  if (outcome.kind !== 'value') throw new Error(JSON.stringify(outcome));
  return outcome.value;
}

function admits(file: string, object: object, oldObject: object | null): boolean {
  const { variables, validations } = policyIn(file).spec;
  const values: Record<string, unknown> = {};
  for (const { name, expression } of variables)
    values[name] = evaluate(expression, { object, oldObject, variables: values });
  return validations.every(({ expression }) =>
    evaluate(expression, { object, oldObject, variables: values }),
  );
}

/** As a controller makes it, of its template. */
const controlled = (object: object, controller = true) => ({
  ...object,
  metadata: {
    ...(object as { metadata: object }).metadata,
    ownerReferences: [
      { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x', ...(controller ? { controller } : {}) },
    ],
  },
});
const ASKS = { annotations: { 'lapse.dev/ttl-seconds-after-finished': '60' } };
const pod = (metadata: object, restartPolicy: string) => ({
  metadata,
  spec: { restartPolicy, containers: [] },
});
const workload = (metadata: object | undefined, restartPolicy: string) => ({
  metadata: { name: 'x' },
  spec: { template: { ...(metadata === undefined ? {} : { metadata }), spec: { restartPolicy } } },
});
const cronJob = (metadata: object) => ({
  metadata: {},
  spec: { jobTemplate: { spec: workload(metadata, 'Never').spec } },
});
const NOTES = { annotations: { other: 'x' } };

describe.each<
  [file: string, make: (metadata: object, restartPolicy: string) => object, refusesOnce: boolean]
>([
  ['pods', pod, false],
  ['workloads', workload, false],
  ['jobs', workload, true],
  ['cronjobs', cronJob, true],
])('%s.yaml', (file, make, refusesNever) => {
  test.each<[string, object, object | null, boolean]>([
    ['created without annotations', make({}, 'Always'), null, true],
    ['created with others', make(NOTES, 'Always'), null, true],
    ['created with the annotation', make(ASKS, 'Always'), null, false],
    ['created with it and restartPolicy Never', make(ASKS, 'Never'), null, !refusesNever],
    ['updated, annotation added', make(ASKS, 'Always'), make(NOTES, 'Always'), false],
    ['updated, annotation was there', make(ASKS, 'Always'), make(ASKS, 'Always'), true],
    ['updated, annotation removed', make({}, 'Always'), make(ASKS, 'Always'), true],
    [
      'created with it by the controller of something older',
      controlled(make(ASKS, 'Always')),
      null,
      file !== 'cronjobs',
    ],
    ['created with it, owned and not controlled', controlled(make(ASKS, 'Always'), false), null, false],
    [
      'added later to what a controller made',
      controlled(make(ASKS, 'Always')),
      controlled(make(NOTES, 'Always')),
      false,
    ],
  ])('%s', (_name, object, old, expected) => expect(admits(file, object, old)).toBe(expected));
});
