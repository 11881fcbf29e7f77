// Parses an APIService: the group version that another server serves, its address, and its CA.

import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { child, flag, number, objects, part, text } from '../strategies/values.ts';

export const API_SERVICES = 'apiservices.apiregistration.k8s.io';
const DEFAULT_PORT = 443;

/** The registration group and the core group cannot be aggregated. */
export const REGISTRATION_GROUP = 'apiregistration.k8s.io';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A group version in the order of discovery; in both priorities higher values come first. */
export interface Ranked {
  /** Name of the APIService: `v1.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
}

export interface Registration extends Ranked {
  readonly service: ServiceReference;
  /** PEM. */
  readonly ca: string | undefined;
  readonly insecure: boolean;
  /** The Available condition. */
  readonly available: boolean;
}

/** Undefined when this server itself serves the group version. */
export function parseRegistration(object: KubeObject): Registration | undefined {
  const spec = part(object, 'spec');
  const service = child(spec, 'service');
  const group = text(spec, 'group');
  if (service === undefined || group === '' || group === REGISTRATION_GROUP) return undefined;
  const bundle = text(spec, 'caBundle');
  return {
    name: object.metadata.name!,
    group,
    version: text(spec, 'version'),
    groupPriority: number(spec, 'groupPriorityMinimum') ?? 0,
    versionPriority: number(spec, 'versionPriority') ?? 0,
    service: {
      namespace: text(service, 'namespace'),
      name: text(service, 'name'),
      port: number(service, 'port') ?? DEFAULT_PORT,
    },
    ca: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('utf8'),
    insecure: flag(spec, 'insecureSkipTLSVerify') === true,
    available: availableCondition(object)?.['status'] === 'True',
  };
}

const availableCondition = (object: KubeObject): JsonObject | undefined =>
  objects(part(object, 'status'), 'conditions').find((condition) => condition['type'] === 'Available');
