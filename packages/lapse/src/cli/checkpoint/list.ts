// lapse checkpoint ls, cat and verify: list checkpoints, print their objects, check their integrity.

import { parseTime } from '@lapse/base/instant';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { MAX_OBJECTS, readinessOf } from '#checkpoint/read';
import { type ChunkReport, verifyCheckpoint } from '#checkpoint/verify';
import { UsageError } from '#manager/usage';
import { bytesText, type CommandContext, counted, type ExitCode, styled, table } from '../commandContext.ts';
import { yamlText } from '../yaml.ts';
import { fetchFrom } from './fetch.ts';
import { findCheckpoint, NO_KIND } from './findCheckpoint.ts';
import { objectsOf } from './objects.ts';

export interface ListFlags {
  readonly namespace?: string;
  readonly output: 'text' | 'json' | 'yaml';
}

export async function listCheckpoints(
  commandContext: CommandContext,
  { namespace, output }: ListFlags,
): Promise<ExitCode> {
  const all = await commandContext.client.list(ManifestCheckpoint).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 404) throw new UsageError(NO_KIND);
    throw error;
  });
  const items = all.items.filter(
    ({ spec }) => namespace === undefined || spec?.sourceNamespace === namespace,
  );
  if (output !== 'text') {
    const list = { apiVersion: 'v1', kind: 'List', items: items.map(asJson) };
    await commandContext.out(output === 'json' ? `${writeJson(list)}\n` : yamlText(list));
    return 0;
  }
  if (items.length === 0) {
    commandContext.say(`no checkpoints${namespace === undefined ? '' : ` of namespace ${namespace}`}`);
    return 0;
  }
  const now = commandContext.clock.now();
  const rows = items.map((checkpoint) => {
    const { metadata, spec, status } = checkpoint;
    const { ready, reason } = readinessOf(checkpoint);
    const created = parseTime(metadata.creationTimestamp ?? '');
    return [
      metadata.name ?? '',
      spec?.sourceNamespace ?? '',
      String(status?.totalObjects ?? ''),
      status?.totalSizeBytes === undefined ? '' : bytesText(status.totalSizeBytes),
      ready ? 'yes' : `no (${reason})`,
      Number.isNaN(created) ? '' : ageText(now - created),
      spec?.manifestCaptureRequestRef?.name ?? '',
    ];
  });
  await commandContext.out(
    table([['NAME', 'NAMESPACE', 'OBJECTS', 'SIZE', 'READY', 'AGE', 'REQUEST'], ...rows]),
  );
  return 0;
}

const STEPS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** As in kubectl: the largest unit that fits. */
function ageText(length: number): string {
  const s = Math.max(0, Math.floor(length / 1000));
  const [unit, size] = STEPS.find(([, step]) => s >= step) ?? ['s', 1];
  return `${Math.floor(s / size)}${unit}`;
}

export interface ReadFlags {
  readonly maxObjects?: number;
}

export interface CatFlags extends ReadFlags {
  readonly output: 'yaml' | 'json';
  readonly only?: readonly string[];
}

/** Prints while reading: only one chunk is in memory. */
export async function catCheckpoint(
  commandContext: CommandContext,
  name: string,
  flags: CatFlags,
): Promise<ExitCode> {
  const checkpoint = await findCheckpoint(commandContext.client, name);
  const { output, maxObjects = MAX_OBJECTS, only = [] } = flags;
  let count = 0;
  for await (const object of objectsOf(commandContext.client, checkpoint, { maxObjects, only })) {
    if (output === 'json') await commandContext.out(`${count === 0 ? '[' : ',\n '}${writeJson(object)}`);
    else await commandContext.out(`${count === 0 ? '' : '---\n'}${yamlText(object)}`);
    count++;
  }
  if (output === 'json') await commandContext.out(count === 0 ? '[]\n' : ']\n');
  if (count === 0 && only.length > 0) commandContext.say(`${name} contains no ${only.join(' or ')}`);
  return 0;
}

export interface VerifyFlags extends ReadFlags {
  readonly output: 'text' | 'json';
}

export async function verifyCommand(
  commandContext: CommandContext,
  name: string,
  flags: VerifyFlags,
): Promise<ExitCode> {
  const checkpoint = await findCheckpoint(commandContext.client, name);
  const { output, maxObjects = Number.MAX_SAFE_INTEGER } = flags;
  const reports: ChunkReport[] = [];
  for await (const report of verifyCheckpoint(checkpoint, fetchFrom(commandContext.client), { maxObjects })) {
    reports.push(report);
    if (output === 'text') await commandContext.out(reportLine(commandContext, report));
  }
  const bad = reports.filter(({ problem }) => problem !== undefined).length;
  const objects = reports.reduce((sum, report) => sum + report.objects, 0);
  if (output === 'json')
    await commandContext.out(
      `${JSON.stringify({ checkpoint: name, ok: bad === 0, objects, chunks: reports }, null, 2)}\n`,
    );
  else if (bad === 0)
    await commandContext.out(
      `${name} is complete: ${counted(objects, 'object')} in ${counted(reports.length, 'chunk')}\n`,
    );
  else await commandContext.out(`${name} is damaged: ${bad} of ${counted(reports.length, 'chunk')}\n`);
  return bad === 0 ? 0 : 1;
}

function reportLine(commandContext: CommandContext, { name, objects, bytes, problem }: ChunkReport): string {
  if (problem !== undefined) return `${styled(commandContext, 'red', 'bad')}  ${problem}\n`;
  return `${styled(commandContext, 'green', 'ok ')}  ${name}  ${counted(objects, 'object')}, ${bytesText(bytes)}\n`;
}
