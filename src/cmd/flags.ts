// Flags out of the table of settings: the same for every command that runs controllers.

import { type Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { settingsOf } from './configuration/load.ts';
import { compileConfiguration, schemaAt } from './configuration/schema.ts';

export interface SettingFlags {
  /** The flags that were given, by their names without dashes, as typed. */
  given(command: Command): Record<string, string>;
}

/** Adds a flag for every setting that has one and is not left out. */
export function withSettings(
  command: Command,
  families: readonly Family[],
  without: (flag: string) => boolean = () => false,
): SettingFlags {
  const { json } = compileConfiguration(families);
  const options = new Map<string, Option>();
  for (const { field, flag, description } of settingsOf(families)) {
    if (flag === undefined || without(flag)) continue;
    const schema = schemaAt(json, field);
    if (schema === undefined) throw new Error(`--${flag} sets ${field}, which does not exist`);
    const usual = schema.default === undefined ? '' : ` (default: ${String(schema.default)})`;
    const isSwitch = schema.type === 'boolean';
    const option = new Option(
      `--${flag} ${isSwitch ? '[true|false]' : '<value>'}`,
      `${description}${schema.type === 'object' ? '' : usual}`,
    );
    options.set(flag, option);
    command.addOption(option);
  }
  return {
    given(parsed) {
      const values: Record<string, string> = {};
      for (const [flag, option] of options) {
        const value: unknown = parsed.getOptionValue(option.attributeName());
        // A switch without a value is `true`.
        if (value !== undefined) values[flag] = String(value);
      }
      return values;
    },
  };
}
