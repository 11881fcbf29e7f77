// lapse trash list, show and verify.

import { writeJson } from '@lapse/kube/api/jsonWrite';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { readTrash } from '#trash/read';
import type { TrashRecord } from '#trash/record';
import type { Wanted } from '#trash/undo/select';
import { bytesText, type CommandContext, counted, type ExitCode, styled, table } from '../commandContext.ts';
import { openTrash, parseSince, readWanted, type TrashFlags, wantedKind } from '../trashAccess.ts';
import { yamlText } from '../yaml.ts';

export interface ListFlags extends TrashFlags {
  readonly since?: string;
  readonly namespace?: string;
  readonly kind?: string;
  readonly rule?: string;
  readonly output: 'text' | 'wide' | 'json' | 'yaml';
}

export async function listTrash(commandContext: CommandContext, flags: ListFlags): Promise<ExitCode> {
  const { since, namespace, kind, rule, output } = flags;
  const wanted: Wanted = {
    ...(since === undefined ? {} : { since: parseSince(since, commandContext.clock.now()) }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(kind === undefined ? {} : { kind: await wantedKind(commandContext, kind) }),
    ...(rule === undefined ? {} : { rule }),
  };
  const records = await readWanted(commandContext, flags, wanted);
  if (output === 'json' || output === 'yaml') {
    const list = { apiVersion: 'v1', kind: 'List', items: records.map(asJson) };
    await commandContext.out(output === 'json' ? `${writeJson(list)}\n` : yamlText(list));
    return 0;
  }
  if (records.length === 0) {
    commandContext.say('no saved objects');
    return 0;
  }
  await commandContext.out(listText(records, output === 'wide'));
  return 0;
}

const WIDE = ['AUTHOR', 'UID', 'REASON'];

function listText(records: readonly TrashRecord[], isWide: boolean): string {
  const rows = records.map(({ metadata, savedAt, object, rule, author = '', reason }) => [
    metadata.name,
    savedAt,
    object.metadata.namespace ?? '',
    `${object.kind}/${object.metadata.name}`,
    rule,
    ...(isWide ? [author, object.metadata.uid ?? '', reason] : []),
  ]);
  const header = ['ID', 'DELETED', 'NAMESPACE', 'OBJECT', 'RULE', ...(isWide ? WIDE : [])];
  return table([header, ...rows]);
}

export interface ShowFlags extends TrashFlags {
  readonly output: 'yaml' | 'json';
}

/** Prints the manifest to standard output, and what is known about its deletion to standard error. */
export async function showRecord(
  commandContext: CommandContext,
  id: string,
  flags: ShowFlags,
): Promise<ExitCode> {
  const [record] = await readWanted(commandContext, flags, { id });
  if (record === undefined) {
    commandContext.say(`lapse: no saved object has the id ${id}; "lapse trash list" lists them`);
    return 1;
  }
  const { object, rule, author, reason, savedAt, deadline } = record;
  commandContext.say(
    `deleted by ${rule}${author === undefined ? '' : `, written by ${author}`}, at ${savedAt}`,
  );
  commandContext.say(`deadline: ${deadline}`);
  commandContext.say(`reason: ${reason}`);
  commandContext.say(await existenceText(commandContext, object));
  await commandContext.out(flags.output === 'json' ? `${writeJson(object)}\n` : yamlText(object));
  return 0;
}

async function existenceText({ client }: CommandContext, object: KubeObject): Promise<string> {
  try {
    const { group, version } = parseApiVersion(object.apiVersion) ?? { group: '', version: '' };
    const served = await client.discovery.find({ group, version, kind: object.kind });
    const live = served === undefined ? undefined : await client.get(served as Kind, keyOf(object));
    if (live === undefined) return 'it does not exist now';
    return live.metadata.uid === object.metadata.uid
      ? 'it still exists: it was saved, but not deleted'
      : 'another object of this name exists now';
  } catch (error) {
    if (error instanceof ApiError) return `whether it exists is unknown: ${error.message}`;
    throw error;
  }
}

export interface VerifyFlags extends TrashFlags {
  readonly output: 'text' | 'json';
}

export async function verifyTrash(commandContext: CommandContext, flags: VerifyFlags): Promise<ExitCode> {
  const isText = flags.output === 'text';
  const chunks: { name: string; objects: number; bytes: number; problem?: string }[] = [];
  for await (const { name, objects, bytes, problem } of readTrash(await openTrash(commandContext, flags))) {
    chunks.push({ name, objects, bytes, ...(problem === undefined ? {} : { problem }) });
    if (!isText) continue;
    const line =
      problem === undefined
        ? `${styled(commandContext, 'green', 'ok ')}  ${name}  ${counted(objects, 'object')}, ${bytesText(bytes)}\n`
        : `${styled(commandContext, 'red', 'bad')}  ${name}: ${problem}\n`;
    await commandContext.out(line);
  }
  const bad = chunks.filter(({ problem }) => problem !== undefined).length;
  const objects = chunks.reduce((sum, chunk) => sum + (chunk.problem === undefined ? chunk.objects : 0), 0);
  const result = bad === 0 ? 'complete' : `damaged: ${bad} of ${counted(chunks.length, 'chunk')}`;
  await commandContext.out(
    isText
      ? `the trash is ${result}: ${counted(objects, 'object')} in ${counted(chunks.length, 'chunk')}\n`
      : `${JSON.stringify({ ok: bad === 0, objects, chunks }, null, 2)}\n`,
  );
  return bad === 0 ? 0 : 1;
}
