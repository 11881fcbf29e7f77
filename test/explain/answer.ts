// What `lapse explain` answers in a situation, without a process around it.

import { Command } from 'commander';
import { parseTime } from '#base/instant';
import { FAMILIES } from '#controllers/registry';
import { readGeneral } from '../../src/cmd/configuration/general.ts';
import { loadConfiguration } from '../../src/cmd/configuration/load.ts';
import { explainObject } from '../../src/cmd/explain/explainObject.ts';
import type { Explanation } from '../../src/cmd/explain/explanation.ts';
import { findObject } from '../../src/cmd/explain/find.ts';
import { parseTarget, resolveKind } from '../../src/cmd/explain/resolve.ts';
import { withSettings } from '../../src/cmd/flags.ts';
import { selectFamilies } from '../../src/cmd/selection.ts';
import { SERVED, type World } from './world.ts';

export const NOW = parseTime('2026-03-01T12:00:00Z');

export async function explainIn(
  { client, read }: World,
  words: readonly string[],
  given = '',
): Promise<Explanation> {
  const command = new Command()
    .argument('<object...>')
    .option('-n, --namespace <name>')
    .option('--cascade')
    .option('--config <file>');
  const settings = withSettings(command, FAMILIES, (flag) => flag === 'namespace');
  command.exitOverride().parse([...words], { from: 'user' });
  const flags = command.opts<{ namespace?: string; cascade?: boolean; config?: string }>();
  const document = loadConfiguration(FAMILIES, {
    flags: settings.given(command),
    environment: {},
    ...(flags.config === undefined ? {} : { file: { name: flags.config, text: configIn(given) } }),
  });
  const general = readGeneral(document);
  const target = parseTarget(command.args);
  const kind = resolveKind(SERVED, target.kind);
  const namespace = flags.namespace ?? 'default';
  const found = await findObject(client, kind, { name: target.name, namespace });
  const selected = selectFamilies(FAMILIES, general.controllers ?? ['*']);
  return explainObject(
    {
      client,
      read,
      served: SERVED,
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

/** The configuration among what is given. */
const configIn = (given: string): string =>
  given.split(/^---$/m).find((document) => document.includes('kind: LapseConfiguration')) ?? '';
