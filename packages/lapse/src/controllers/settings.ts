// Fields that the configuration sections of several families have.

import type { JsonObject } from '@lapse/kube/api/json';

export const concurrencySetting = (description: string): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  default: 32,
  description,
});

export const booleanSetting = (value: boolean, description: string): JsonObject => ({
  type: 'boolean',
  default: value,
  description,
});
