// Webhook configurations, read from the store in the order in which they are called.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Store } from '../../store/store.ts';
import { number, objects, part, text } from '../../strategies/values.ts';
import { type Criteria, readCriteria } from './matching.ts';

export interface Webhook extends Criteria {
  readonly name: string;
  /** The name of its configuration. */
  readonly configuration: string;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly ignoresFailure: boolean;
  readonly sideEffects: string;
  readonly timeoutSeconds: number;
  readonly reinvokes: boolean;
  readonly clientConfig: JsonObject;
}

export type Phase = 'mutating' | 'validating';

const TABLES: Record<Phase, string> = {
  mutating: 'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  validating: 'validatingwebhookconfigurations.admissionregistration.k8s.io',
};

const TIMEOUT_SECONDS = 10;

/** By name of the configuration, then in the listed order. */
export function webhooksOf(store: Store, phase: Phase): Webhook[] {
  if (!store.hasHeads(TABLES[phase])) return [];
  const configurations = [...store.heads(TABLES[phase])]
    .map(({ object }) => object)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  return configurations.flatMap((configuration) =>
    objects(configuration, 'webhooks').map((hook) => parseWebhook(hook, configuration.metadata.name!)),
  );
}

function parseWebhook(hook: JsonObject, configuration: string): Webhook {
  return {
    name: text(hook, 'name'),
    configuration,
    ...readCriteria(hook, 'rules'),
    matchConditions: objects(hook, 'matchConditions').map((condition) => ({
      name: text(condition, 'name'),
      expression: text(condition, 'expression'),
    })),
    ignoresFailure: hook['failurePolicy'] === 'Ignore',
    sideEffects: text(hook, 'sideEffects') || 'Unknown',
    timeoutSeconds: number(hook, 'timeoutSeconds') ?? TIMEOUT_SECONDS,
    reinvokes: hook['reinvocationPolicy'] === 'IfNeeded',
    clientConfig: part(hook, 'clientConfig'),
  };
}
