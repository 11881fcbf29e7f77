// The answer of `lapse explain` in a situation, without a process.

import { parseTime } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { Command } from 'commander';
import { withSettings } from 'lapse/cli/flags';
import { FAMILIES } from 'lapse/controllers/registry';
import { explainObject } from 'lapse/forecast/explain/explainObject';
import type { Explanation } from 'lapse/forecast/explain/explanation';
import { findObject } from 'lapse/forecast/explain/findObject';
import { parseTarget, resolveKind } from 'lapse/forecast/resolveKind';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import { selectFamilies } from 'lapse/manager/selection';
import type { World } from './world.ts';

export const NOW = parseTime('2026-03-01T12:00:00Z');

/** All situations share one table of flags, and there are few configurations. */
const command = new Command()
  .argument('<object...>')
  .option('-n, --namespace <name>')
  .option('--cascade')
  .option('--config <file>')
  .exitOverride();
const settings = withSettings(command, FAMILIES, { without: (flag) => flag === 'namespace' });
const documents = new Map<string, JsonObject>();

function configure(flags: Readonly<Record<string, string>>, text: string | undefined): JsonObject {
  const id = JSON.stringify([flags, text]);
  const file = text === undefined ? {} : { file: { name: 'lapse.yaml', text } };
  const known = documents.get(id) ?? loadConfiguration(FAMILIES, { flags, environment: {}, ...file });
  documents.set(id, known);
  return known;
}

export async function explainIn(
  { client, read, served }: Pick<World, 'client' | 'read' | 'served'>,
  words: readonly string[],
  given = '',
): Promise<Explanation> {
  command.parse([...words], { from: 'user' });
  const flags = command.opts<{ namespace?: string; cascade?: boolean; config?: string }>();
  const document = configure(
    settings.given(command),
    flags.config === undefined ? undefined : configIn(given),
  );
  const general = readGeneral(document);
  const target = parseTarget(command.args);
  const kind = resolveKind(served, target.kind);
  const namespace = flags.namespace ?? 'default';
  const found = await findObject(client, kind, { name: target.name, namespace });
  const selected = selectFamilies(FAMILIES, general.controllers ?? ['*']);
  return explainObject(
    {
      client,
      read,
      served,
      now: NOW,
      general,
      document,
      known: FAMILIES,
      selected,
      cascade: flags.cascade === true,
    },
    kind,
    found,
  );
}

/** The configuration, if it is among the given objects. */
const configIn = (given: string): string =>
  given.split(/^---$/m).find((document) => document.includes('kind: LapseConfiguration')) ?? '';
