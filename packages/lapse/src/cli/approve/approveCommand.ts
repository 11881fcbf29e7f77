// lapse approve KIND/NAME: lets a policy or Cleaner that stopped at its limit go on. Writes one annotation, with the rights of the
// user.

import { realClock } from '@lapse/base/clock';
import { formatTime } from '@lapse/base/instant';
import { systemRandom } from '@lapse/base/random';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { Command, InvalidArgumentError } from 'commander';
import { parseTarget } from '#forecast/resolveKind';
import { APPROVAL_ANNOTATION, formatApproval } from '#limits/approval';
import { describeLimit, ruleArgument } from '#limits/limit';
import { type ClusterFlags, reachCluster } from '#manager/cluster';
import { parseNamespace, UsageError } from '#manager/usage';
import { terminalText } from '../terminalText.ts';
import { APPROVABLE, type Approvable } from './approvable.ts';

interface ApproveFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly deletions?: number;
  readonly dryRun?: boolean;
}

const HELP = `
Examples:
  lapse approve ttlpolicy/pipeline-runs -n ci
  lapse approve clusterttlpolicy/previews --deletions 800
  lapse approve cleaner/shop -n default

Run lapse plan first: it shows what will be deleted.
The approval is for the current spec and this number of deletions. It is void if
the spec changes, or if more objects are due when the controller reads it.`;

export function approveCommand(): Command {
  return new Command('approve')
    .description('let a policy or Cleaner that stopped at its limit go on')
    .argument('<rule...>', 'KIND/NAME, such as ttlpolicy/pipeline-runs')
    .option('-n, --namespace <name>', 'namespace of the rule (default: that of the context)', parseNamespace)
    .option('--deletions <number>', 'how many deletions to approve (default: all that are due)', parseCount)
    .option('--dry-run', 'print what would be approved; write nothing')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], flags: ApproveFlags) => {
      const target = parseTarget(words);
      const approvable = approvableOf(target.kind);
      const cluster = await reachCluster(flags, process.env, realClock);
      try {
        const { transport, credentials, namespace: home } = cluster;
        const client = createClient({ transport, credentials, clock: realClock, random: systemRandom });
        const text = await approve(client, approvable, target.name, { ...flags, home: home ?? 'default' });
        process.stdout.write(`${terminalText(text)}\n`);
      } finally {
        await cluster.close();
      }
    });
}

function parseCount(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('expected a whole number, such as 250');
  return Number(text);
}

function approvableOf(word: string): Approvable {
  const found = APPROVABLE.find(({ words }) => words.includes(word.toLowerCase()));
  if (found !== undefined) return found;
  const names = APPROVABLE.map(({ words }) => words[0]).join(', ');
  throw new UsageError(`"${word}" has no limits to approve; expected one of ${names}`);
}

interface Approving extends Pick<ApproveFlags, 'namespace' | 'deletions' | 'dryRun'> {
  /** The namespace of the context. */
  readonly home: string;
}

async function approve(
  client: Client,
  { kind, stoppedOf }: Approvable,
  name: string,
  { namespace, home, deletions: given, dryRun }: Approving,
): Promise<string> {
  const key = kind.namespaced ? { namespace: namespace ?? home, name } : { name };
  const rule = await client.get(kind, key);
  const shown = ruleArgument(kind.kind, key);
  if (rule === undefined) throw new UsageError(`${shown} does not exist`);
  const stopped = stoppedOf(rule);
  if (stopped === undefined)
    throw new UsageError(`${shown} is not stopped at a limit; there is nothing to approve`);
  const { exceeded, due } = stopped;
  const deletions = given ?? due;
  if (deletions < due)
    throw new UsageError(
      `--deletions ${deletions} is less than the ${due} objects that are due; narrow the rule, or approve at least ${due}`,
    );
  const why = describeLimit(exceeded, due);
  if (dryRun === true) return `would approve ${deletions} deletions by ${shown}: ${why}`;
  await annotate(client, kind, rule, deletions);
  return `approved ${deletions} deletions by ${shown}: ${why}`;
}

async function annotate(
  client: Client,
  kind: Approvable['kind'],
  rule: KubeObject,
  deletions: number,
): Promise<void> {
  const { generation = 0, uid = '' } = rule.metadata;
  const approval = formatApproval({ generation, deletions, at: formatTime(realClock.now()) });
  const patch = { metadata: { annotations: { [APPROVAL_ANNOTATION]: approval } } };
  const answer = await client.patch(kind, keyOf(rule), { type: 'merge', patch }, { ifUid: uid });
  if (answer.kind === 'patched') return;
  if (answer.kind === 'missing') throw new UsageError('it was deleted meanwhile');
  throw answer.error;
}
