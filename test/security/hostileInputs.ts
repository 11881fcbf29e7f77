// Inputs made to exhaust memory or to block the event loop, and the code of Lapse that reads them. The attack table has
// the expected result of each; hostile.soak.ts measures each in a separate process.

import { gzipSync } from 'node:zlib';
import { parseBody } from '@lapse/apiserver/decode/body';
import { isStructural } from '@lapse/apiserver/schema/structural/structural';
import { encodeBase64, utf8 } from '@lapse/base/codec';
import { compile, conditionEnvironment, DYN, kubernetesEnvironment } from '@lapse/cel/cel';
import { parseKubeconfig } from '@lapse/kube/client/kubeconfigFile';
import { understand } from 'lapse/controllers/cleaner/spec';
import { compilePolicy } from 'lapse/controllers/ttl-policy/compile';
import { policy } from 'lapse/controllers/ttl-policy/policy.testkit';
import { releaseJson } from 'lapse/helm/release.testkit';
import { openHistory, type Stored } from 'lapse/helm/storage';

export interface HostileInput {
  readonly name: string;
  /** Creates the input; the returned function gives it to Lapse. */
  prepare(): () => unknown;
}

const CONDITIONS = conditionEnvironment({ x: DYN, l: DYN });
const RULES = kubernetesEnvironment({ variables: { x: DYN, l: DYN } });

/** About 20,000 instructions from 1.3 kB of text. */
const largePattern = (i: number): string => `x${i}(?:${'a?b?c?d?e?'.repeat(2)}){1000}`;
/** Each character class looks up the cases of 125,000 characters. */
const FOLDED = '(?i)[B-\\x{1E942}]'.repeat(50);
/** A policy of 21 kB. */
const manyPatterns = (count: number): string =>
  Array.from({ length: count }, (_, i) => `x.matches(r"${largePattern(i)}")`).join(' || ');

const DYNAMIC =
  'l.all(i, "ab".matches(string(i) + "(?:a?b?c?d?e?){" + "900}") || "ab".find(string(i) + "[a-z]{999}") != "" || true)';

const NUMBERS = Array.from({ length: 2000 }, (_, i) => i);

function evaluateDynamic(env: typeof CONDITIONS): string {
  const compiled = compile(DYNAMIC, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program.evaluate({ l: NUMBERS, x: '' }).kind;
}

const FLAT_SCHEMA = (patterns: number) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: patterns }, (_, i) => [`f${i}`, { type: 'string', pattern: largePattern(i) }]),
  ),
});

/** Each level repeats the one before nine times. */
export function aliases(levels: number, head = ''): string {
  const lines = [head, 'a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i <= levels; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return `${lines.join('\n')}\n`;
}

/** 8.5 kB that expand to 1.8 million elements: one list, repeated as often as parsers permit by default. */
const wideAliases = (times: number, head: string): string =>
  `${head}\na: &a [${'x,'.repeat(1800)}x]\nb: [${'*a,'.repeat(times)}x]\n`;

const pack = (json: string): string => encodeBase64(gzipSync(utf8(json), { level: 1 }));

const stored = (revision: number, status: string, payload: string): Stored => ({
  driver: 'secret',
  name: `sh.helm.release.v1.shop.v${revision}`,
  uid: `uid-${revision}`,
  revision,
  status,
  payload,
});

/** A release whose chart is this JSON; its status contradicts its label. */
const withChart = (revision: number, status: string, chart: string): string =>
  pack(
    JSON.stringify({ ...releaseJson({ revision, status }), chart: 0 }).replace(
      '"chart":0',
      `"chart":${chart}`,
    ),
  );

const RELEASE = { name: 'shop', namespace: 'default' };
const EMPTY_LISTS = `[${'[],'.repeat(5_000_000)}0]`;

export const HOSTILE_INPUTS: readonly HostileInput[] = [
  {
    name: 'a condition with sixteen large patterns',
    prepare: () => () => compile(manyPatterns(16), CONDITIONS),
  },
  {
    name: 'a validation rule with sixteen large patterns',
    prepare: () => () => compile(manyPatterns(16), RULES),
  },
  {
    name: 'a TTL policy with sixteen large patterns',
    prepare: () => () => compilePolicy(policy({ finishedAt: manyPatterns(16).replaceAll('x.', 'object.') })),
  },
  {
    name: 'a Cleaner with sixteen conditions of large patterns',
    prepare: () => () =>
      understand({
        spec: {
          ttl: '1h',
          retry: { period: '1m' },
          conditions: Array.from({ length: 16 }, (_, i) => `"x".matches(r"${largePattern(i)}")`),
        },
      }),
  },
  {
    name: 'a condition with character classes that ignore case',
    prepare: () => () => compile(`x.matches(r"${FOLDED}")`, CONDITIONS),
  },
  {
    name: 'a condition that builds patterns while it is evaluated',
    prepare: () => () => evaluateDynamic(CONDITIONS),
  },
  {
    name: 'a CustomResourceDefinition with a hundred large patterns',
    prepare: () => () => isStructural(FLAT_SCHEMA(100)),
  },
  {
    name: '64 Helm revisions that unpack to 15 MiB each',
    prepare: () => {
      const history = Array.from({ length: 64 }, (_, i) =>
        stored(i + 1, 'deployed', i < 63 ? '' : withChart(64, 'failed', `"${' '.repeat(15 * 2 ** 20)}"`)),
      );
      const bomb = withChart(63, 'superseded', `"${' '.repeat(15 * 2 ** 20)}"`);
      return () =>
        openHistory(
          history.map((one) => (one.payload === '' ? { ...one, payload: bomb } : one)),
          RELEASE,
        );
    },
  },
  {
    name: 'a Helm release whose chart is five million empty lists',
    prepare: () => {
      const payload = withChart(1, 'deployed', EMPTY_LISTS);
      return () => openHistory([stored(1, 'deployed', payload)], RELEASE);
    },
  },
  {
    name: 'a Helm manifest of four megabytes in one document',
    prepare: () => {
      const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\nspec:\n${'  - a\n'.repeat(600_000)}`;
      const payload = pack(JSON.stringify(releaseJson({ manifest })));
      return () => openHistory([stored(1, 'deployed', payload)], RELEASE);
    },
  },
  {
    name: 'a Helm manifest whose aliases multiply',
    prepare: () => {
      const payload = pack(JSON.stringify(releaseJson({ manifest: wideAliases(95, '"kind": ConfigMap') })));
      return () => openHistory([stored(1, 'deployed', payload)], RELEASE);
    },
  },
  {
    name: 'a YAML body whose aliases multiply',
    prepare: () => {
      const body = utf8(wideAliases(995, 'apiVersion: v1'));
      return () => refusal(() => parseBody(body, 'yaml'));
    },
  },
  {
    name: 'a kubeconfig whose aliases multiply',
    prepare: () => {
      const text = wideAliases(95, 'kind: Config');
      return () => refusal(() => parseKubeconfig(text, 'kubeconfig'));
    },
  },
];

/** The message of the refusal. */
export function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

export function hostileInput(name: string): HostileInput {
  const found = HOSTILE_INPUTS.find((input) => input.name === name);
  if (found === undefined) throw new Error(`there is no hostile input ${name}`);
  return found;
}
