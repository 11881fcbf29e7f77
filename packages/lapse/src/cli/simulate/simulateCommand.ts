// lapse simulate: loads a cluster (read-only) or objects from files, applies changed policies, and runs the real
// controllers in virtual time. Reports what is deleted, when and why, and the effect of the change.

import { realClock } from '@lapse/base/clock';
import { type Instant, type Millis, parseTime, plus } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { Command, Option } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { computeDifference } from '#forecast/simulate/difference';
import { readObjects } from '#forecast/simulate/manifests';
import { type RunOptions, type RunResult, runForward } from '#forecast/simulate/runForward';
import { type Snapshot, takeSnapshot } from '#forecast/simulate/takeSnapshot';
import { readGeneral } from '#manager/configuration/general';
import { loadForCluster } from '#manager/configuration/installation';
import { loadConfiguration, type Sources } from '#manager/configuration/load';
import { readConfig } from '#manager/configuration/readConfig';
import { selectFamilies } from '#manager/selection';
import { UsageError } from '#manager/usage';
import { widthOf } from '../colour.ts';
import { documentText, FORMATS, type Format } from '../documents.ts';
import { exitCodesHelp } from '../exitCodes.ts';
import { withSettings } from '../flags.ts';
import { openCluster, sayToUser } from '../readOnlyCluster.ts';
import { parseSpan } from '../times.ts';
import { type Report, reportDocument, reportText } from './report.ts';

interface SimulateFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly with?: readonly string[];
  readonly for: string;
  readonly at?: string;
  readonly seed: string;
  readonly limit: string;
  readonly output: Format;
}

/** The rights of authors are not simulated. `lapse doctor` checks them in the cluster. */
const DEFAULTS = { actAs: 'controller', leaderElection: { enabled: false } };
const ONLY_IN_CLUSTERS = (flag: string) => /^(leader-elect|webhook|kube-api|metrics|log)/.test(flag);
const MOST_DAYS = 366;
const MOST_OBJECTS = 1_000_000;

const EXAMPLES = `
Examples:
  lapse simulate                             the cluster of kubectl, for a week
  lapse simulate --with new.yaml --for 30d   what this policy makes different
  lapse simulate jobs.yaml --at 2026-01-01T00:00:00Z
  kubectl get jobs -A -o yaml | lapse simulate - -o json

A cluster is only read (GET). Secrets are read without their content, but for
Helm releases. Not simulated: what new work would come in, running Jobs and Pods
that finish, schedulers, CronJobs, webhooks and other people's controllers.

${exitCodesHelp()}`;

export function simulateCommand(): Command {
  const command = new Command('simulate')
    .description(
      'run a snapshot of a cluster, or objects from files, forward in virtual time; optionally with changed policies',
    )
    .argument('[files...]', 'objects in YAML or JSON, - for standard input (default: the cluster)')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML; flags take precedence')
    .option('--with <file>', 'manifests to apply on top; the difference is shown; may be repeated', collect)
    .option('--for <length>', `how far ahead, at most ${MOST_DAYS}d`, '7d')
    .option('--at <time>', 'start time, in RFC 3339 (default: now)')
    .option('--seed <n>', 'seed of the random numbers; the same seed gives the same result', '1')
    .option('--limit <n>', 'refuse clusters with more objects than this', '50000')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'));
  const settings = withSettings(command, FAMILIES, { without: ONLY_IN_CLUSTERS, defaults: DEFAULTS });
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (files: string[], flags: SimulateFlags, parsed: Command) => {
      const report = await simulateAll(files, flags, settings.given(parsed));
      const { output } = flags;
      process.exitCode = report.isComplete ? 0 : 3;
      process.stdout.write(
        output === 'text'
          ? reportText(report, widthOf(process.stdout))
          : documentText(reportDocument(report), output),
      );
    });
}

const collect = (file: string, before: readonly string[] = []): string[] => [...before, file];

function wholeNumber(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most)
    throw new UsageError(`--${flag} must be a whole number up to ${most}, got "${text}"`);
  return value;
}

function lengthOf(text: string): Millis {
  const length = parseSpan(text);
  if (length <= MOST_DAYS * 86_400_000) return length;
  throw new UsageError(`--for ${text}: at most ${MOST_DAYS}d are simulated`);
}

function startOf(at: string | undefined): Instant {
  if (at === undefined) return realClock.now();
  const start = parseTime(at);
  if (Number.isNaN(start) || !/^\d{4}-\d\d-\d\dT/.test(at))
    throw new UsageError(`--at must be a time such as 2026-01-01T00:00:00Z, got "${at}"`);
  return start;
}

async function simulateAll(
  files: readonly string[],
  flags: SimulateFlags,
  given: Readonly<Record<string, string>>,
): Promise<Report> {
  const length = lengthOf(flags.for);
  const seed = wholeNumber('seed', flags.seed, 2 ** 31);
  const limit = wholeNumber('limit', flags.limit, MOST_OBJECTS);
  const start = startOf(flags.at);
  const changes = readObjects(flags.with ?? []);
  const sources = {
    flags: given,
    environment: process.env,
    defaults: DEFAULTS,
    ...(flags.config === undefined ? {} : { file: readConfig(flags.config) }),
  };
  // Errors in flags are reported before the cluster is contacted.
  const local = loadConfiguration(FAMILIES, sources);
  const isSnapshot = files.length === 0;
  const { objects, notes, document } = isSnapshot
    ? await snapshotOf(flags, sources, limit)
    : { ...fromFiles(files, limit), document: local };
  const families = selectFamilies(FAMILIES, readGeneral(document).controllers ?? ['*']);
  const options = { objects, isSnapshot, families, known: FAMILIES, document, start, length, seed };
  const without = await run({ ...options, changes: [] }, changes.length > 0 ? 'without' : 'simulating');
  const changed = changes.length > 0 ? await run({ ...options, changes }, 'with') : without;
  return {
    from: start,
    until: plus(start, length),
    seed,
    objects: objects.length,
    deletions: changed.deletions,
    ...(changes.length > 0 ? { difference: computeDifference(without.deletions, changed.deletions) } : {}),
    notes: [...notes, ...changed.notes],
    isComplete: notes.length === 0,
    problems: changed.problems,
  };
}

function fromFiles(files: readonly string[], limit: number): Snapshot {
  const objects = readObjects(files);
  if (objects.length > limit)
    throw new UsageError(`the files have ${objects.length} objects, more than --limit ${limit}`);
  refuseTwins(objects);
  return { objects, notes: [] };
}

function refuseTwins(objects: readonly KubeObject[]): void {
  const seen = new Set<string>();
  for (const { apiVersion, kind, metadata } of objects) {
    const id = `${apiVersion} ${kind} ${metadata.namespace ?? 'default'}/${metadata.name}`;
    if (seen.has(id)) throw new UsageError(`there are two objects ${id}`);
    seen.add(id);
  }
}

async function snapshotOf(
  flags: SimulateFlags,
  sources: Sources,
  limit: number,
): Promise<Snapshot & { readonly document: JsonObject }> {
  const { client, cluster } = await openCluster(flags);
  try {
    const document = await loadForCluster(FAMILIES, sources, client, sayToUser);
    const onKind = (kind: string) => progress(`reading ${kind}`);
    return { ...(await takeSnapshot({ client, limit, onKind })), document };
  } finally {
    progress('');
    await cluster.close();
  }
}

async function run(options: RunOptions, name: string): Promise<RunResult> {
  try {
    const onProgress = (share: number) => progress(`${name}: ${Math.round(share * 100)} %`);
    return await runForward({ ...options, onProgress });
  } finally {
    progress('');
  }
}

/** A progress line that is rewritten, on a terminal only. */
function progress(text: string): void {
  if (process.stderr.isTTY === true) process.stderr.write(`\r\u001b[0K${text}`);
}
