// Finds and reads the trash of the installation in a cluster, for `lapse trash` and `lapse undo`.

import { type Instant, instant, minus } from '@lapse/base/instant';
import { getOwn, isObject } from '@lapse/kube/api/json';
import { resolveKind } from '#forecast/resolveKind';
import { findInstallation } from '#manager/configuration/installation';
import { parseYaml } from '#manager/configuration/load';
import { UsageError } from '#manager/usage';
import { readTrash } from '#trash/read';
import type { TrashRecord } from '#trash/record';
import { SecretReader } from '#trash/secretStore';
import { isWanted, type Wanted, withoutRepeats } from '#trash/undo/select';
import type { CommandContext } from './commandContext.ts';
import { parseSpan } from './times.ts';

export interface TrashFlags {
  readonly trashNamespace?: string;
}

export const TRASH_NAMESPACE = [
  '--trash-namespace <name>',
  'namespace of the saved objects (default: that of the installation)',
] as const;

/** The namespace that the configuration of the installation names, or its own, or that of the kubeconfig. */
async function trashNamespace(commandContext: CommandContext, flags: TrashFlags): Promise<string> {
  if (flags.trashNamespace !== undefined) return flags.trashNamespace;
  const installation = await findInstallation(commandContext.client, (text) => commandContext.say(text));
  if (installation === undefined) return commandContext.namespace;
  const document = parseYaml(installation.name, installation.text);
  const section = isObject(document) ? getOwn(document, 'trash') : undefined;
  const configured = isObject(section) ? getOwn(section, 'namespace') : undefined;
  return typeof configured === 'string' ? configured : installation.namespace;
}

export const openTrash = async (commandContext: CommandContext, flags: TrashFlags): Promise<SecretReader> =>
  new SecretReader(commandContext.client, await trashNamespace(commandContext, flags));

/** The wanted objects, oldest first, each deletion once. Damaged chunks are reported and left out. */
export async function readWanted(
  commandContext: CommandContext,
  flags: TrashFlags,
  wanted: Wanted,
): Promise<TrashRecord[]> {
  const records: TrashRecord[] = [];
  for await (const chunk of readTrash(await openTrash(commandContext, flags))) {
    if (chunk.problem !== undefined)
      commandContext.say(`warning: ${chunk.name} is damaged: ${chunk.problem}; see "lapse trash verify"`);
    records.push(...chunk.records.filter((record) => isWanted(record, wanted)));
  }
  return withoutRepeats(records);
}

/** `--since 1h`: the time this long ago. */
export const parseSince = (text: string, now: Instant): Instant =>
  instant(minus(now, parseSpan(text, '--since') as unknown as Instant));

/** The kind that a word names; a kind that is no longer served is compared by its name. */
export async function wantedKind(
  { client }: CommandContext,
  word: string,
): Promise<NonNullable<Wanted['kind']>> {
  try {
    const { group, kind } = resolveKind(await client.discovery.all(), word);
    return { group, kind };
  } catch (error) {
    if (!(error instanceof UsageError) || /ambiguous/.test(error.message)) throw error;
    return { kind: word };
  }
}
