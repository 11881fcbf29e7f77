// Readers of bytes and texts that users control, and generators of inputs for each: valid ones, changed a little.

import { gzipSync } from 'node:zlib';
import { parseBody } from '@lapse/apiserver/decode/body';
import { BodyError } from '@lapse/apiserver/decode/parsedBody';
import { builtins, typeOf } from '@lapse/apiserver/schema/builtinFixture';
import { DecodeError } from '@lapse/apiserver/schema/decodeError';
import { decodeEnvelope, decodeMessage } from '@lapse/apiserver/schema/protobuf';
import { encodeBase64, utf8 } from '@lapse/base/codec';
import type { Random } from '@lapse/base/random';
import { compile, conditionEnvironment, DYN } from '@lapse/cel/cel';
import { Job } from '@lapse/kube/api/kinds/builtin';
import { IDENTITY, one } from '@lapse/kube/api/shape';
import { ConfigError } from '@lapse/kube/client/configFields';
import { parseKubeconfig } from '@lapse/kube/client/kubeconfigFile';
import { ProtobufError } from '@lapse/kube/client/protobuf/cursor';
import { envelope, type Message } from '@lapse/kube/client/protobuf/encode.testkit';
import { decodeList } from '@lapse/kube/client/protobuf/envelope';
import { parseManifest } from 'lapse/helm/manifest';
import { decodeRelease } from 'lapse/helm/release';
import { document, releaseJson } from 'lapse/helm/release.testkit';
import { aliases } from './hostileInputs.ts';
import { changedBytes, changedText, pick } from './mutate.ts';

export interface FuzzTarget {
  readonly name: string;
  /** Gives one input to the reader; rethrows unexpected errors. */
  run(random: Random): void;
}

/** Errors of these classes are expected. */
type Expected = readonly (abstract new (...args: never[]) => Error)[];

function answering(expected: Expected, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!expected.some((kind) => error instanceof kind)) throw error;
  }
}

const MANIFEST = [
  document('ConfigMap', 'a', '  labels: {a: b}\ndata:\n  k: |\n    text\n'),
  document('Secret', 'b', '  annotations:\n    helm.sh/resource-policy: keep\n'),
  'apiVersion: v1\nkind: List\nitems:\n- &x {apiVersion: v1, kind: Pod, metadata: {name: p}}\n- *x\n',
].join('');

const RELEASE = JSON.stringify(
  releaseJson({ manifest: MANIFEST, hooks: [{ name: 'h', events: ['pre-delete'] }] }),
);

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: a
clusters:
- name: a
  cluster: &c {server: https://127.0.0.1:6443, insecure-skip-tls-verify: true}
- {name: b, cluster: *c}
users: [{name: a, user: {token: "1"}}]
contexts: [{name: a, context: {cluster: a, user: a, namespace: n}}]
`;

const YAMLS = [
  MANIFEST,
  KUBECONFIG,
  aliases(3),
  'a: yes\nb: 0x1F\nc: [1, 2.5e3, ~]\n? [k]\n: v\n',
  '- - - a\n',
];

const METADATA: Message = [
  [1, 'job'],
  [3, 'default'],
  [5, 'uid'],
];
const JOBS = envelope('batch/v1', 'JobList', [
  [1, [[2, '7']]],
  [2, [[1, METADATA]]],
  [2, [[1, [[1, 'other']]]]],
]);
const JOB = envelope('batch/v1', 'Job', [[1, METADATA]]);

const PATTERN_PARTS = [
  'a',
  '.',
  'x?',
  '[a-z]',
  '[^é]',
  '\\pL',
  '\\p{Greek}',
  '(?i)',
  '(?:',
  '(',
  ')',
  '|',
  '^',
  '$',
];
const REPEATS = ['', '', '', '*', '+', '?', '{3}', '{2,}', '{0,40}', '{500}', '{1000}', '{9999}'];
const FUNCTIONS = ['matches', 'find', 'findAll'];
const ENVIRONMENT = conditionEnvironment({ x: DYN });

function randomPattern(random: Random): string {
  const length = 1 + Math.floor(random.next() * 12);
  return Array.from({ length }, () => pick(PATTERN_PARTS, random) + pick(REPEATS, random)).join('');
}

/** Patterns as literals, and as texts that are built during the evaluation. */
function runPattern(random: Random): void {
  const literal = `r'${randomPattern(random)}'`;
  const pattern = random.next() < 0.5 ? literal : `(x + ${literal})`;
  const compiled = compile(`string(x).${pick(FUNCTIONS, random)}(${pattern})`, ENVIRONMENT);
  if (compiled.kind === 'program') compiled.program.evaluate({ x: 'abcé'.repeat(50) });
}

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'Helm payloads',
    run(random) {
      const json = utf8(changedText(RELEASE, random));
      const packed = random.next() < 0.8 ? gzipSync(json, { level: 1 }) : json;
      const bytes = random.next() < 0.3 ? changedBytes(packed, random) : packed;
      const decoded = decodeRelease(encodeBase64(bytes));
      if (decoded.kind === 'release') parseManifest(decoded.release.manifest);
    },
  },
  { name: 'Helm manifests', run: (random) => void parseManifest(changedText(MANIFEST, random)) },
  {
    name: 'regular expressions in CEL',
    run: runPattern,
  },
  {
    name: 'CEL sources',
    run(random) {
      const source = changedText(
        'x.items.filter(i, i.spec.a > 3).map(i, i.name + "b") == ["c"] && !has(x.y)',
        random,
      );
      const compiled = compile(source, ENVIRONMENT);
      if (compiled.kind === 'program')
        compiled.program.evaluate({ x: { items: [{ spec: { a: 5 }, name: 'a' }] } });
    },
  },
  {
    name: 'protobuf lists',
    run: (random) =>
      answering([ProtobufError], () =>
        decodeList(Buffer.from(changedBytes(JOBS, random)), Job, { metadata: one(1, IDENTITY) }),
      ),
  },
  {
    name: 'protobuf bodies',
    run: (random) =>
      answering([DecodeError], () => {
        const { raw } = decodeEnvelope(changedBytes(JOB, random));
        decodeMessage(builtins, typeOf('batch/v1/Job'), raw);
      }),
  },
  {
    name: 'YAML bodies',
    run: (random) =>
      answering([BodyError], () => parseBody(utf8(changedText(pick(YAMLS, random), random)), 'yaml')),
  },
  {
    name: 'JSON bodies',
    run: (random) => answering([BodyError], () => parseBody(changedBytes(utf8(RELEASE), random), 'json')),
  },
  {
    name: 'kubeconfig files',
    run: (random) =>
      answering([ConfigError], () => parseKubeconfig(changedText(KUBECONFIG, random), 'kubeconfig')),
  },
];
