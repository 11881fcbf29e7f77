// The sources of the configuration that a forecast uses: flags, environment and file, as for `lapse run`.

import { readConfig } from '#manager/configuration/readConfig';

export interface ForecastSourceOptions {
  /** The file of `--config`. */
  readonly config?: string | undefined;
  /** Objects come from files. They have no verified author, so the rights of authors do not count. */
  readonly isFromFiles: boolean;
}

export const forecastSources = (
  flags: Readonly<Record<string, string>>,
  { config, isFromFiles }: ForecastSourceOptions,
) => ({
  flags,
  environment: process.env,
  ...(isFromFiles ? { defaults: { actAs: 'controller' } } : {}),
  ...(config === undefined ? {} : { file: readConfig(config) }),
});
