// User errors: on the command line, in names, in files. Each is run through a command in this process, and must not be
// reported as an internal error.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { explainCommand } from 'lapse/cli/explain/explainCommand';
import { computeFailure } from 'lapse/cli/failures';
import { withHelpStyle } from 'lapse/cli/help';
import { planCommand } from 'lapse/cli/plan/planCommand';
import { simulateCommand } from 'lapse/cli/simulate/simulateCommand';

const COMMANDS: Readonly<Record<string, () => Command>> = {
  plan: planCommand,
  explain: explainCommand,
  simulate: simulateCommand,
};

export interface Outcome {
  /** The exit code that cli.ts would use. */
  readonly code: number;
  readonly said: string;
}

/** Writes no output, and keeps the exit code of this process. */
export async function runQuietly([name = '', ...args]: readonly string[]): Promise<Outcome> {
  const said: string[] = [];
  const hear = (chunk: string | Uint8Array) => said.push(String(chunk)) > 0;
  const { stdout, stderr } = process;
  const [out, err, code] = [stdout.write, stderr.write, process.exitCode];
  [stdout.write, stderr.write, process.exitCode] = [hear, hear, undefined];
  try {
    await withHelpStyle(COMMANDS[name]!()).parseAsync(args, { from: 'user' });
    return { code: Number(process.exitCode ?? 0), said: said.join('') };
  } catch (cause) {
    if (cause instanceof CommanderError) return { code: cause.exitCode === 0 ? 0 : 2, said: said.join('') };
    const failure = computeFailure(cause);
    return { code: failure.code, said: failure.text };
  } finally {
    [stdout.write, stderr.write, process.exitCode] = [out, err, code];
  }
}

/** Texts that a user may give for any argument. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '/',
  'a/b',
  'a%b',
  'A b',
  '\u0000',
  '\u001b[31m',
  '-1',
  '*',
  'x'.repeat(300),
  '__proto__',
];

const job = (metadata: string, rest = '') =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: { name: a${metadata} }\n${rest}`;
const policy = (spec: string, metadata = '') =>
  `apiVersion: lapse.dev/v1alpha1\nkind: TTLPolicy\nmetadata: { name: p${metadata} }\nspec: ${spec}\n`;
const bomb = (first: string) =>
  ['a', 'b', 'c', 'd', 'e'].reduce(
    (text, name, i, all) =>
      `${text}${name}: &${name} [${Array.from({ length: 9 }, () => (i === 0 ? 'x' : `*${all[i - 1]}`)).join(',')}]\n`,
    first,
  );

/** Files with invalid contents, and some valid ones. */
export const ODD_FILES: Readonly<Record<string, string>> = {
  'an alias bomb': bomb(''),
  'an alias bomb in an object': bomb('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'),
  'deep nesting': `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  'no YAML': '{ a: [',
  'two keys of one name': 'a: 1\na: 2\n',
  'a tag nobody knows': '!!python/object:os.system "x"\n',
  bytes: '\u0000\u0001\ufffd',
  'a text': 'hello\n',
  'a number': '42\n',
  'a list': '- 1\n',
  'items that are none': 'apiVersion: v1\nkind: List\nitems: [1, null, {}]\n',
  'no name': 'apiVersion: v1\nkind: Pod\nmetadata: {}\n',
  'a name that is a number': 'apiVersion: v1\nkind: Pod\nmetadata: { name: 1 }\n',
  'a name that is a path': job('').replace('name: a', 'name: ../../x'),
  'a namespace that is a path': job(', namespace: a/b'),
  'a namespace that is empty': job(', namespace: ""'),
  'a namespace that is a list': job(', namespace: [a]'),
  'labels that are numbers': job(', labels: { x: 1 }'),
  'labels that are a text': job(', labels: x'),
  'a time that is none': job(', creationTimestamp: yesterday'),
  'a time that is a map': job(', creationTimestamp: {}'),
  'a wrong type': job('', 'spec: { ttlSecondsAfterFinished: ten }\n'),
  'a spec that is a text': job('', 'spec: x\n'),
  'a status that is a list': job('', 'status: [1]\n'),
  'owners that are none': job(', ownerReferences: [1]'),
  'owners without anything': job(', ownerReferences: [{}]'),
  'finalizers that are numbers': job(', finalizers: [1]'),
  'annotations that are null': job(', annotations: null'),
  'an apiVersion that is none': 'apiVersion: a/b/c\nkind: X\nmetadata: { name: a }\n',
  'a kind that is a prototype': 'apiVersion: v1\nkind: __proto__\nmetadata: { name: a }\n',
  'a policy that is a text': policy('x'),
  'a policy with types mixed up': policy('{ target: [], ttl: 5, mode: {}, selector: 3 }'),
  'a policy that is null': policy('null'),
  'a policy with labels that are numbers': policy('{}', ', labels: { x: 1 }'),
  'a policy with a time that is none': policy('{}', ', creationTimestamp: yesterday'),
  'a Cleaner with targets that are none':
    'apiVersion: cleaner.vtex.dev/v1alpha\nkind: Cleaner\nmetadata: { name: c }\nspec: { ttl: [], targets: [1, {}], conditions: 5 }\n',
  'a keeper that follows nothing':
    'apiVersion: deckhouse.io/v1alpha1\nkind: ObjectKeeper\nmetadata: { name: k }\nspec: { mode: 5, followObjectRef: x, ttl: {} }\n',
  'a pool that is a text':
    'apiVersion: storage.deckhouse.io/v1alpha1\nkind: ReplicatedStoragePool\nmetadata: { name: k }\nspec: x\nstatus: 5\n',
  'a request whose status is a text':
    'apiVersion: storage.deckhouse.io/v1alpha1\nkind: VolumeCaptureRequest\nmetadata: { name: k }\nspec: 4\nstatus: x\n',
  'a definition that is none':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: a.b }\nspec: x\n',
  'a definition without versions':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: as.b }\nspec: { group: b, names: { kind: A, plural: as }, scope: Namespaced, versions: [] }\n',
  'a kind nobody defines': 'apiVersion: x.y/v1\nkind: Z\nmetadata: { name: a }\n',
  nothing: '',
};

/** Writes one of them; returns its path. */
export function writeOddFile(scratch: string, name: string): string {
  const path = join(scratch, `${name.replaceAll(' ', '-')}.yaml`);
  mkdirSync(scratch, { recursive: true });
  writeFileSync(path, ODD_FILES[name]!);
  return path;
}
