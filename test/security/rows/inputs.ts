import { instant } from '@lapse/base/instant';
import { MAX_PATTERN_SIZE, Patterns } from '@lapse/base/patterns';
import { type Compilation, messageWithoutData } from '@lapse/cel/cel';
import type { KubeObject } from '@lapse/kube/api/object';
import { recordingContext } from 'lapse/cli/checkpoint/checkpoint.testkit';
import { terminalText } from 'lapse/cli/terminalText';
import type { Understood } from 'lapse/controllers/cleaner/spec';
import type { Compiled } from 'lapse/controllers/ttl-policy/compile';
import { computeFinish } from 'lapse/controllers/ttl-policy/finish';
import { compiled } from 'lapse/controllers/ttl-policy/policy.testkit';
import type { Revision } from 'lapse/helm/storage';
import { planUninstall } from 'lapse/helm/uninstallPlan';
import { expect } from 'vitest';
import type { Attack } from '../attack.ts';
import { hostileInput } from '../hostileInputs.ts';

/** What Lapse returns for this hostile input. */
const outcomeOf = async <T>(name: string): Promise<T> => (await hostileInput(name).prepare()()) as T;

const AUTHOR = 'a user who may create Cleaners or TTL policies in a namespace';
const HELM_AUTHOR = 'a user who may create Cleaners and Secrets in a namespace';
const MEMORY = 'more than 64 MB of memory, or the event loop for more than 100 ms';

const refusesPatterns = async (name: string): Promise<void> => {
  const compilation = await outcomeOf<Compilation>(name);
  if (compilation.kind !== 'invalid') throw new Error('it compiles');
  expect(compilation.message).toMatch(/regular expression too large: .* compiles? to up to \d+ instructions/);
};

const patterns: readonly Attack[] = [
  {
    name: 'an expression with large regular expressions is refused before they are compiled',
    attacker: AUTHOR,
    steps: 'create an object whose expression contains sixteen patterns such as (?:a?b?c?){1000}',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      await refusesPatterns('a condition with sixteen large patterns');
      await refusesPatterns('a validation rule with sixteen large patterns');
      await refusesPatterns('a condition with character classes that ignore case');
    },
  },
  {
    name: 'a stored TTL policy with large regular expressions is reported, and no controller stops',
    attacker: `${AUTHOR}, while admission is off`,
    steps: 'store a TTLPolicy of 21 kB that consists of patterns, and wait for the controller to start',
    mustNotObtain: 'a crash loop of the controller',
    on: 'process',
    async run() {
      const result = await outcomeOf<Compiled>('a TTL policy with sixteen large patterns');
      if (result.kind !== 'invalid') throw new Error('it compiles');
      expect(result.errors.map(({ field }) => field)).toEqual(['spec.finishedAt']);
      expect(result.errors[0]!.message).toContain('regular expression too large');
    },
  },
  {
    name: 'a stored Cleaner with large regular expressions is reported, and no controller stops',
    attacker: `${AUTHOR}, while admission is off`,
    steps: 'store a Cleaner with sixteen conditions of one large pattern each',
    mustNotObtain: 'a crash loop of the controller',
    on: 'process',
    async run() {
      const result = await outcomeOf<Understood>('a Cleaner with sixteen conditions of large patterns');
      if (result.kind !== 'invalid') throw new Error('it compiles');
      expect(result.problems).toHaveLength(16);
    },
  },
  {
    name: 'patterns that an expression builds while it is evaluated end with its budget',
    attacker: AUTHOR,
    steps: 'evaluate l.all(i, "a".matches(string(i) + "(?:a?b?){" + "900}")) on a list of 2,000',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      expect(await outcomeOf('a condition that builds patterns while it is evaluated')).toBe('exhausted');
    },
  },
  {
    name: 'all compiled patterns of the process together stay below one limit',
    attacker: AUTHOR,
    steps: 'use thousands of different patterns, each within the limit of one expression',
    mustNotObtain: MEMORY,
    on: 'process',
    run() {
      const kept = new Patterns(4 * MAX_PATTERN_SIZE);
      for (let i = 0; i < 500; i++) kept.compile(`x${i}[ab]{900}`);
      expect(kept.size).toBeLessThanOrEqual(4 * MAX_PATTERN_SIZE);
    },
  },
  {
    name: 'a CustomResourceDefinition with too many large patterns is refused before they are compiled',
    attacker: 'a user who may create CustomResourceDefinitions on the embedded server',
    steps: 'create a definition whose schema has a hundred fields with a large pattern each',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      expect(await outcomeOf('a CustomResourceDefinition with a hundred large patterns')).toBe(false);
    },
  },
];

const helm: readonly Attack[] = [
  {
    name: 'a history of Helm revisions that unpack to gigabytes is reported and not unpacked',
    attacker: HELM_AUTHOR,
    steps:
      'create 64 small Secrets with the label status=deployed, each unpacking to 15 MiB, below a failed release',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      const history = await outcomeOf<Revision[]>('64 Helm revisions that unpack to 15 MiB each');
      const opened = history.filter(({ decoded }) => decoded.kind === 'release');
      expect(opened.map(({ revision }) => revision)).toEqual([63, 64]);
      expect(planUninstall(history, instant(0))).toMatchObject({ kind: 'corrupt' });
    },
  },
  {
    name: 'the chart inside a Helm release is skipped, whatever it contains',
    attacker: HELM_AUTHOR,
    steps: 'create a release whose chart is a list of five million empty lists',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      const history = await outcomeOf<Revision[]>('a Helm release whose chart is five million empty lists');
      expect(planUninstall(history, instant(0))).toMatchObject({ kind: 'uninstall' });
    },
  },
  {
    name: 'a Helm manifest that stands for millions of nodes is reported as corrupt',
    attacker: HELM_AUTHOR,
    steps: 'create a release whose manifest consists of YAML aliases that repeat each other',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      const history = await outcomeOf<Revision[]>('a Helm manifest whose aliases multiply');
      expect(planUninstall(history, instant(0))).toMatchObject({ kind: 'corrupt' });
    },
  },
];

const SECRET_VALUE = 'hunter2-hunter2';
const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'default', name: 'a', uid: 'u' },
  data: { token: SECRET_VALUE },
};

const READING_EXPRESSIONS = [
  'object.data.token',
  'timestamp(object.data.token)',
  'string(duration(object.data.token))',
  '{"a": "b"}[object.data.token]',
  'string(int(object.data.token))',
  'string(url(object.data.token).getHost())',
  'string(ip(object.data.token))',
  'string([1][int(size(object.data.token))])',
  'string("a".matches("(" + object.data.token))',
  'string(time.getHours(object.data.token))',
];

const contents: readonly Attack[] = [
  {
    name: 'the value of a Secret never becomes part of a policy status, an Event or a log',
    attacker: 'a user who may read TTL policies, and not Secrets',
    steps: 'read the status of a policy whose expression turns values of Secrets into results and errors',
    mustNotObtain: 'any part of the value',
    on: 'process',
    run() {
      for (const finishedAt of READING_EXPRESSIONS) {
        let policy: ReturnType<typeof compiled>;
        try {
          policy = compiled({ target: { apiVersion: 'v1', kind: 'Secret' }, finishedAt });
        } catch {
          continue;
        }
        expect(JSON.stringify(computeFinish(policy, secret)), finishedAt).not.toContain('hunter2');
      }
    },
  },
  {
    name: 'an error message of an expression loses the values that it quotes',
    attacker: 'a user who may read Cleaners, and not the objects that their conditions read',
    steps: 'read the message of a condition that fails on a value',
    mustNotObtain: 'the value',
    on: 'process',
    run() {
      for (const message of [`no such key: ${SECRET_VALUE}`, `Invalid duration ${SECRET_VALUE}`])
        expect(messageWithoutData(message, 'x[y]')).not.toContain(SECRET_VALUE);
    },
  },
];

const HOSTILE_NAME = 'a\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eb\r';

const texts: readonly Attack[] = [
  {
    name: 'YAML whose aliases multiply is refused before it is built',
    attacker: 'a user of the embedded server, or the author of a file that a command reads',
    steps: 'send 8 kB of YAML in which each list repeats the one before nine times',
    mustNotObtain: MEMORY,
    on: 'process',
    async run() {
      expect(await outcomeOf('a YAML body whose aliases multiply')).toBe(
        'yaml: document contains excessive aliasing',
      );
      expect(await outcomeOf('a kubeconfig whose aliases multiply')).toContain(
        'aliases expand to more than 10000 nodes',
      );
    },
  },
  {
    name: 'text of the cluster cannot steer the terminal of the user who reads it',
    attacker: 'a user who may create objects, and chooses their texts',
    steps: 'put escape sequences and characters that turn the direction of text into a message or a value',
    mustNotObtain: 'control over the terminal of the user who runs a command of Lapse',
    on: 'process',
    async run() {
      const steers = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
      expect(terminalText(HOSTILE_NAME)).not.toMatch(steers);
      const commandContext = recordingContext({} as never);
      await commandContext.run(async ({ out, say }) => {
        await out(HOSTILE_NAME);
        say(HOSTILE_NAME);
        return 0;
      });
      const { out, said } = commandContext.take();
      expect(`${out}${said}`).not.toMatch(steers);
    },
  },
];

export const inputs: readonly Attack[] = [...patterns, ...helm, ...contents, ...texts];
