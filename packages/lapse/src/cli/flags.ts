// Generates flags from the table of settings, for all commands that run controllers.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { settingsOf } from '#manager/configuration/load';
import { compileConfiguration, schemaAt } from '#manager/configuration/schema';

export interface SettingFlags {
  /** The given flags by name without dashes, unparsed. */
  given(command: Command): Record<string, string>;
}

export interface SettingChoice {
  /** Flags that have no effect in this command. */
  readonly without?: (flag: string) => boolean;
  /** Defaults that differ from those of `lapse run`, as for loadConfiguration. The help shows them. */
  readonly defaults?: JsonObject;
}

/** Adds a flag for every setting that has one and is not excluded. */
export function withSettings(
  command: Command,
  families: readonly Family[],
  { without = () => false, defaults = {} }: SettingChoice = {},
): SettingFlags {
  const { json } = compileConfiguration(families);
  const options = new Map<string, Option>();
  for (const { field, flag, description } of settingsOf(families)) {
    if (flag === undefined || without(flag)) continue;
    const schema = schemaAt(json, field);
    if (schema === undefined) throw new Error(`--${flag} sets ${field}, which does not exist`);
    const isSwitch = schema.type === 'boolean';
    const option = new Option(
      `--${flag} ${isSwitch ? '[true|false]' : '<value>'}`,
      withDefault(description, schema, valueAt(defaults, field)),
    );
    options.set(flag, option);
    command.addOption(option);
  }
  return {
    given(parsed) {
      const values: Record<string, string> = {};
      for (const [flag, option] of options) {
        const value: unknown = parsed.getOptionValue(option.attributeName());
        // A boolean flag without a value is `true`.
        if (value !== undefined) values[flag] = String(value);
      }
      return values;
    },
  };
}

function withDefault(description: string, schema: JsonObject, own: Json | undefined): string {
  if (own !== undefined) return `${description.replace(/ \(default: [^)]*\)$/, '')} (default: ${shown(own)})`;
  const usual = schema.type === 'object' ? undefined : schema.default;
  return usual === undefined ? description : `${description} (default: ${String(usual)})`;
}

const valueAt = (document: JsonObject, field: string): Json | undefined =>
  field
    .split('.')
    .reduce<Json | undefined>((at, name) => (isObject(at) ? getOwn(at, name) : undefined), document);

/** The value in the syntax of a flag. */
const shown = (value: Json): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}=${String(one)}`)
        .join(',')
    : String(value);
